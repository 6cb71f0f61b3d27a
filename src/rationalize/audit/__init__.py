"""Which shortcuts are in anyone's labeled text: phrases that give the label away without being evidence."""
