"""The bodies and answers of the API: what OpenAPI shows, and what the bodies are checked by.

>>> GenerateBody.model_validate({"count": 4}).seed
0
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

LARGEST_SEED = 2**53 - 1  # what every language's JSON keeps exactly

Name = Annotated[StrictStr, Field(min_length=1, max_length=200)]
SPEC_EXAMPLE: dict[str, Any] = {
    "elements": [
        {"name": "bar", "label": "Toolbar", "x": 0.5, "y": 0.05},
        {"name": "hero", "label": "Image", "height": {"about": 0.3}},
        {"label": "Text Button"},
    ],
    "relations": [{"of": "hero", "is": "below", "to": "bar"}],
}
LAYOUT_EXAMPLE: dict[str, Any] = {
    "id": "0-0",
    "width": 1440,
    "height": 2560,
    "labels": ["Toolbar", "Image"],
    "boxes": [[0.5, 0.05, 1.0, 0.08], [0.5, 0.35, 0.9, 0.3]],
}


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CheckBody(_Body):
    """A request to look at, without drawing anything."""

    spec: dict[str, Any] = Field(
        default_factory=dict,
        description="The request: what is known about the layout. Empty: anything.",
    )
    model: Name | None = Field(
        None, description="A name from /v1/models; absent: the server's default."
    )

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"spec": {"elements": [{"label": "Tolbar"}]}}]}
    )


class _Drawing(CheckBody):
    seed: StrictInt = Field(
        0, ge=0, le=LARGEST_SEED, description="Same request, seed and model: same layouts."
    )
    options: dict[str, Any] = Field(
        default_factory=dict,
        description=(
            "Options of the sampler, such as steps, temperature and top_p; `require` (draw again "
            "until every wish is met, best first) and `tries`. Absent: the model's own."
        ),
    )


class GenerateBody(_Drawing):
    """A request and how many layouts are wanted for it."""

    count: StrictInt = Field(8, ge=1, description="How many layouts.")
    tidy: StrictBool = Field(False, description="Settle edges that nearly meet.")
    trace: StrictBool = Field(False, description="Also give the states on the way from noise.")

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"spec": SPEC_EXAMPLE, "count": 8, "seed": 0}]}
    )


class JobBody(_Drawing):
    """A large request; its layouts are written to files on the server, for download."""

    count: StrictInt = Field(1_000, ge=1, description="How many layouts.")
    formats: list[Name] = Field(
        ["jsonl"], min_length=1, max_length=20, description="Files to write: jsonl, coco, svg, ..."
    )

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"spec": {}, "count": 1000, "formats": ["jsonl", "coco"]}]}
    )


class TidyBody(_Body):
    """Layouts whose edges are to be settled."""

    layouts: list[dict[str, Any]] = Field(
        min_length=1, description="Native records: labels, boxes, and optionally id, width, height."
    )

    model_config = ConfigDict(json_schema_extra={"examples": [{"layouts": [LAYOUT_EXAMPLE]}]})


class ConvertBody(TidyBody):
    """Layouts to be written in a format."""

    to: Name = Field(
        description="json, jsonl, coco, yolo, voc, labelstudio, csv, parquet, svg, png, html, pptx."
    )

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"layouts": [LAYOUT_EXAMPLE], "to": "svg"}]}
    )


# Answers -----------------------------------------------------------------------------------------


class ProblemView(BaseModel):
    """One thing that is wrong with a request."""

    path: str = Field(description='Where: "elements[0].x", "count"; "" is the whole request.')
    message: str = Field(description="What is wrong and what would be right.")


class Problems(BaseModel):
    """Everything that is wrong with a request; empty when it can be drawn."""

    problems: list[ProblemView]


class ErrorView(BaseModel):
    message: str
    problems: list[ProblemView]


class Error(BaseModel):
    """Why a request was not answered as wished."""

    error: ErrorView
    request_id: str = Field(description="Also in the header X-Request-Id and in the server's log.")


class LabelView(BaseModel):
    name: str
    count: int | None = Field(description="Layouts of the training data that have it, where known.")
    aliases: list[str] = Field(description="Other words that are understood.")


class ModelView(BaseModel):
    """What a model knows."""

    name: str
    labels: list[LabelView]
    max_elements: int
    canvas: list[float] = Field(description="Width and height of the layouts it was trained on.")
    tasks: dict[str, str | None] = Field(description="null, or why the model refuses the task.")
    default: bool


class Models(BaseModel):
    models: list[ModelView]


class WishView(BaseModel):
    path: str
    kind: str
    wanted: str
    met: bool
    miss: float


class ReportView(BaseModel):
    """Which wishes a layout meets; only the missed ones are listed."""

    met: bool
    score: float
    wishes: int
    missed: list[WishView]


class FrameView(BaseModel):
    level: int
    labels: list[str | None]
    boxes: list[list[float | None]]


class LayoutView(BaseModel):
    """A layout: labels and boxes (centre x, centre y, width, height as shares of the canvas)."""

    id: str = ""
    width: float = 1
    height: float = 1
    labels: list[str]
    boxes: list[list[float]]
    metadata: dict[str, Any] | None = Field(
        None, description="`names` holds the names of the request's elements, null for added ones."
    )


class ResultView(LayoutView):
    """A layout and how far it meets the request; listed elements come first, in their order."""

    report: ReportView
    trace: list[FrameView] | None = Field(None, description="Only with `trace`.")


class Generated(BaseModel):
    model: str
    results: list[ResultView]
    seconds: float


class Layouts(BaseModel):
    layouts: list[LayoutView]


class Health(BaseModel):
    status: str
    version: str
    limits: dict[str, int]


class JobView(BaseModel):
    """A job and how far it has got."""

    id: str
    state: str = Field(description="waiting, running, finished, cancelled or failed.")
    done: int
    count: int
    model: str
    formats: list[str]
    files: list[str] = Field(description="Names for /v1/jobs/ID/files/NAME, when it is finished.")
    error: str | None = None


class Jobs(BaseModel):
    jobs: list[JobView]
