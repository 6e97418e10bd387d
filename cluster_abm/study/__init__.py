"""Many runs: on processes, with statistics; comparisons of policies, reproductions of the papers, studies.

Nothing is imported here: every process that carries out runs comes by, and most of this is not its business.
"""
