"""Pictures of layouts: SVG, PNG, HTML, PowerPoint, contact sheets, colours and legends."""
