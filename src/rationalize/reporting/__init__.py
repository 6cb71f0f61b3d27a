"""What people look at: highlighted text, tables, the HTML report, the model card."""
