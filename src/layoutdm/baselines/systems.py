"""The systems that can be trained and compared: names, papers, tasks, and where their code is.

>>> SYSTEMS["layouttrans"].tasks
('unconditional', 'c', 'cwh', 'completion')
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutdm.errors import LayoutdmError

ALL = ("unconditional", "c", "cwh", "completion", "refinement", "relation")
WITHOUT_RELATION = ALL[:-1]
MOST = ("unconditional", "c", "cwh", "completion")


@dataclass(frozen=True)
class SystemFacts:
    """One system; `parameters` are millions on Rico and PubLayNet at published size."""

    name: str
    what: str
    paper: str
    tasks: tuple[str, ...]
    parameters: tuple[float, float]
    generator: str  # module:function that opens a model folder, of the run half
    learner: str  # module:class that trains it, of the learn half


def _system(
    name: str, what: str, paper: str, tasks: tuple[str, ...], parameters: tuple[float, float],
    module: str, learner: str, generator: str | None = None,
) -> SystemFacts:  # fmt: skip
    return SystemFacts(
        name, what, paper, tasks, parameters,
        generator or f"layoutdm.baselines.{module}:load",
        f"layoutdm.baselines.learn.{module}:{learner}",
    )  # fmt: skip


_LAYOUTTRANS = "Gupta et al., LayoutTransformer, ICCV 2021"
_LAYOUTDM = "Inoue et al., LayoutDM, CVPR 2023"
_OWN = "layoutdm.generator.layoutdm:load"  # modality-wise models are sampled as our own are
_JOINT = "layoutdm.baselines.vqdiffusion:load"
_LAYOUTGAN = "Kikuchi et al., LayoutGAN++ and CLG-LO, ACM MM 2021"
_NDN = "Lee et al., Neural Design Network, ECCV 2020"
_BLT = "Kong et al., BLT, ECCV 2022"

SYSTEMS: dict[str, SystemFacts] = {
    facts.name: facts
    for facts in (
        _system(
            "layoutdm-paper", "LayoutDM as published", _LAYOUTDM, ALL, (12.4, 12.4), "diffusion",
            "PaperLearner", _OWN,
        ),
        _system(
            "layoutdm-paper-joint", "its ablation without modality-wise diffusion", _LAYOUTDM,
            WITHOUT_RELATION, (12.4, 12.4), "diffusion", "JointLearner", _JOINT,
        ),
        _system(
            "layoutdm-paper-flat", "its ablation without decoupled positions", _LAYOUTDM, ALL,
            (12.5, 12.5), "diffusion", "FlatLearner", _OWN,
        ),
        _system(
            "layoutdm-paper-uniform", "its ablation with even bins", _LAYOUTDM, ALL,
            (12.4, 12.4), "diffusion", "UniformLearner", _OWN,
        ),
        _system(
            "layoutdm-paper-percentile", "its ablation with percentile bins", _LAYOUTDM, ALL,
            (12.4, 12.4), "diffusion", "PercentileLearner", _OWN,
        ),
        _system(
            "vqdiffusion", "discrete diffusion over one joint vocabulary",
            "Gu et al., VQ-Diffusion, CVPR 2022", WITHOUT_RELATION, (12.5, 12.5), "diffusion",
            "VQDiffusionLearner", _JOINT,
        ),
        _system(
            "layouttrans", "autoregressive, elements in random order", _LAYOUTTRANS, MOST,
            (12.7, 12.7), "layouttrans", "LayoutTransLearner",
        ),
        _system(
            "layouttrans-fixed", "autoregressive, elements from the top left down", _LAYOUTTRANS,
            ("unconditional",), (12.7, 12.7), "layouttrans", "LayoutTransLearner",
        ),
        _system(
            "maskgit", "masked tokens filled in parallel, PAD as a word",
            "Chang et al., MaskGIT, CVPR 2022", MOST, (12.7, 12.7), "maskgit", "MaskGITLearner",
        ),
        _system(
            "blt", "labels, then sizes, then places in parallel, as compared", _BLT, MOST,
            (12.7, 12.7), "blt", "BLTLearner",
        ),
        _system(
            "blt-original", "the same as its authors released it", _BLT, MOST, (13.0, 13.0), "blt",
            "BLTOriginalLearner",
        ),
        _system(
            "bart", "denoising encoder and decoder", "Lewis et al., BART, ACL 2020", MOST,
            (12.8, 12.8), "bart", "BartLearner",
        ),
        _system(
            "layoutgan++", "GAN with reconstruction, and a branch for given sizes", _LAYOUTGAN,
            ("c", "cwh"), (13.0, 13.0), "layoutgan", "LayoutGANLearner",
        ),
        _system(
            "clg-lo", "latents of layoutgan++ moved until relations hold", _LAYOUTGAN,
            ("relation",), (13.0, 13.0), "layoutgan", "LayoutGANLearner",
            "layoutdm.baselines.clg:load",
        ),
        _system(
            "layoutvae", "boxes one after the other from latent vectors",
            "Jyothi et al., LayoutVAE, ICCV 2019", ("c", "cwh"), (13.2, 13.0), "layoutvae",
            "LayoutVAELearner",
        ),
        _system(
            "ndn-none", "graph networks in three parts, no relations given", _NDN, ("c", "cwh"),
            (21.6, 21.6), "ndn", "NDNLearner",
        ),
        _system(
            "ndn-partial", "the same, completing given relations", _NDN, ("relation",),
            (21.6, 21.6), "ndn", "NDNLearner",
        ),
        _system(
            "diffusionlm", "Gaussian diffusion of token embeddings",
            "Li et al., Diffusion-LM, NeurIPS 2022", MOST, (12.6, 12.6), "diffusionlm",
            "DiffusionLMLearner",
        ),
        _system(
            "ruite", "refines a draft in one pass",
            "Rahman et al., RUITE, IUI workshops 2021", ("refinement",), (12.7, 12.7), "ruite",
            "RuiteLearner",
        ),
    )
}  # fmt: skip


def facts_of(name: str) -> SystemFacts:
    """The system of this name, or an error that lists them."""
    if name not in SYSTEMS:
        raise LayoutdmError(f"system {name!r} is unknown; the systems are: {', '.join(SYSTEMS)}")
    return SYSTEMS[name]
