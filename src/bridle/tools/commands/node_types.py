"""The node types of the bash grammar."""

COMPOUND = frozenset(
    "if_statement elif_clause else_clause while_statement do_group for_statement c_style_for_statement"
    " case_statement case_item".split()
)
LOOPS = frozenset("while_statement for_statement c_style_for_statement".split())
SIMPLE = frozenset(
    "command declaration_command unset_command variable_assignment variable_assignments".split()
)
REDIRECTS = frozenset("file_redirect herestring_redirect heredoc_redirect".split())
WORDS = frozenset(
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
    " command_substitution process_substitution brace_expression arithmetic_expansion extglob_pattern".split()
)
SUBSTITUTIONS = ("command_substitution", "process_substitution")
