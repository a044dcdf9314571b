"""The learn half of the systems: networks, batches and losses, with torch.

`run.train_system` trains any of them under the trainer that LayoutDM is trained by.
"""
