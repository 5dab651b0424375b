// A target needs a source file, but everything is in the header.
#include "HoldfastObjectiveC.h"

// A translation unit needs a declaration (ISO C 6.9).
extern int holdfast_objective_c_is_a_header;
