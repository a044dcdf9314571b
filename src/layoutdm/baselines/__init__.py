"""The systems that the paper compares LayoutDM with, behind the same interface.

`systems.py` lists them. Each has one file here, its run half: how it decodes, with numpy and ONNX
Runtime. Its learn half (network, batches, loss) is the file of the same name in `learn/`.
"""
