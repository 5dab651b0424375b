// For Objective-C: `@import HoldfastObjectiveC;` gives every class of Holdfast's and the names that Swift cannot export.
#ifndef HOLDFAST_OBJECTIVE_C_H
#define HOLDFAST_OBJECTIVE_C_H

#if defined(__OBJC__)
#if __has_feature(modules)
@import Holdfast;
#else
// Objective-C++ (.mm) has modules with -fcxx-modules only.
#import "Holdfast-Swift.h"
#endif

/// The older generation's name of `GCXValidationType`.
typedef GCXValidationType TrustPolicyType;
#endif

#endif
