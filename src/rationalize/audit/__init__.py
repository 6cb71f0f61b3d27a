"""Which shortcuts are in anyone's labelled text: phrases that give the label away without being evidence."""
