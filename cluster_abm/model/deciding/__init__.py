"""How load managers come to an agreement: views, reports, questions and answers, and the record of decisions."""
