"""The paper's own figures: made on other data (38 % and 8 % of theirs is ours) with other features.

By system, then task, then data set: (FID, Maximum IoU), or (FID, Alignment) without condition.
"""

from __future__ import annotations

Pair = tuple[float, float]
# c, cwh, completion of Table 1: Rico and PubLayNet.
TABLE1: dict[str, dict[str, tuple[Pair, Pair]]] = {
    "layoutvae": {"c": ((33.3, 0.249), (26.0, 0.316)), "cwh": ((30.6, 0.283), (27.5, 0.315))},
    "ndn-none": {"c": ((28.4, 0.158), (61.1, 0.162)), "cwh": ((62.8, 0.219), (69.4, 0.222))},
    "layoutgan++": {"c": ((6.84, 0.267), (24.0, 0.263)), "cwh": ((6.22, 0.348), (9.94, 0.342))},
    "layouttrans": {
        "c": ((5.57, 0.223), (14.1, 0.272)), "cwh": ((3.73, 0.323), (16.9, 0.320)),
        "completion": ((3.71, 0.537), (8.36, 0.451)),
    },
    "maskgit": {
        "c": ((26.1, 0.262), (17.2, 0.319)), "cwh": ((8.05, 0.320), (5.86, 0.380)),
        "completion": ((33.5, 0.533), (19.7, 0.484)),
    },
    "blt": {
        "c": ((17.4, 0.202), (72.1, 0.215)), "cwh": ((4.48, 0.340), (5.10, 0.387)),
        "completion": ((117.0, 0.471), (131.0, 0.345)),
    },
    "bart": {
        "c": ((3.97, 0.253), (9.36, 0.320)), "cwh": ((3.18, 0.334), (5.88, 0.375)),
        "completion": ((8.87, 0.527), (9.58, 0.446)),
    },
    "vqdiffusion": {
        "c": ((4.34, 0.252), (10.3, 0.319)), "cwh": ((3.21, 0.331), (7.13, 0.374)),
        "completion": ((11.0, 0.541), (11.1, 0.373)),
    },
    "layoutdm-paper": {
        "c": ((3.55, 0.277), (7.95, 0.310)), "cwh": ((2.22, 0.392), (4.25, 0.381)),
        "completion": ((9.00, 0.576), (7.65, 0.377)),
    },
}  # fmt: skip
REAL: dict[str, tuple[float, float]] = {
    "fid": (1.85, 6.25), "max_iou": (0.691, 0.438), "alignment": (0.109, 0.0214),
    "docsim": (0.260, 0.216),
}  # fmt: skip
# Without condition, Table 2: (FID, Alignment) of Rico and PubLayNet.
TABLE2: dict[str, tuple[Pair, Pair]] = {
    "layouttrans-fixed": ((6.47, 0.133), (17.1, 0.084)),
    "layouttrans": ((7.63, 0.068), (13.9, 0.127)),
    "maskgit": ((52.1, 0.015), (27.1, 0.101)),
    "blt": ((88.2, 1.030), (116.0, 0.153)),
    "bart": ((11.9, 0.090), (16.6, 0.116)),
    "vqdiffusion": ((7.46, 0.178), (15.4, 0.193)),
    "layoutdm-paper": ((6.65, 0.162), (13.9, 0.195)),
}
Triple = tuple[float, float, float]
# Refinement, Table 3: (FID, Maximum IoU, DocSim).
TABLE3: dict[str, tuple[Triple, Triple]] = {
    "ruite": ((3.23, 0.421, 0.221), (6.39, 0.415, 0.174)),
    "input": ((134.0, 0.213, 0.177), (130.0, 0.242, 0.147)),
    "layoutdm-paper": ((2.77, 0.370, 0.205), (6.75, 0.352, 0.149)),
    "masking only": ((3.55, 0.277, 0.168), (7.95, 0.310, 0.127)),
}
# Ablation, Table 4, Rico: (FID, Alignment).
TABLE4: dict[str, Pair] = {
    "layoutdm-paper": (6.65, 0.162),
    "layoutdm-paper-joint": (7.32, 0.156),
    "layoutdm-paper-flat": (6.78, 0.227),
    "layoutdm-paper-uniform": (7.58, 0.256),
    "layoutdm-paper-percentile": (9.79, 0.232),
}
# Refinement priors, Rico: (FID, Maximum IoU, DocSim).
PRIORS: dict[str, Triple] = {
    "default": (2.77, 0.370, 0.205),
    "gaussian": (5.82, 0.330, 0.188),
    "negation": (3.78, 0.276, 0.169),
}
# State space, Rico, FID: system, steps, sampler.
STATE_SPACE: dict[tuple[str, int, str], float] = {
    ("layoutdm-paper", 100, ""): 6.65,
    ("vqdiffusion", 100, ""): 7.46,
    ("diffusionlm", 100, "ddim"): 34.5,
    ("diffusionlm", 100, "ddpm"): 24.8,
    ("diffusionlm", 1000, "ddim"): 33.8,
    ("diffusionlm", 1000, "ddpm"): 22.8,
}
# Millions, Rico and PubLayNet; where two tasks have networks of their own, C->S+P / C+S->P.
PARAMETERS: dict[str, tuple[str, str]] = {
    "layoutvae": ("13.2 / 14.7", "13.0 / 14.5"),
    "ndn-none": ("21.8 / 14.8", "21.8 / 14.8"),
    "layoutgan++": ("12.9 / 13.0", "12.9 / 13.0"),
    **dict.fromkeys(
        ("layouttrans", "layouttrans-fixed", "maskgit", "blt", "ruite"), ("12.7", "12.7")
    ),
    "bart": ("12.8", "12.8"),
    "vqdiffusion": ("12.4", "12.4"),
    "layoutdm-paper": ("12.4", "12.4"),
}
