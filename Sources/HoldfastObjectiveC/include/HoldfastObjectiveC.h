// For Objective-C: `@import HoldfastObjectiveC;` imports all classes of Holdfast, and the names that Swift cannot export.
#ifndef HOLDFAST_OBJECTIVE_C_H
#define HOLDFAST_OBJECTIVE_C_H

#if defined(__OBJC__)
#if __has_feature(modules)
@import Holdfast;
#else
// Objective-C++ (.mm) has modules only with -fcxx-modules.
#import "Holdfast-Swift.h"
#endif

/// The name that the older generation has for `GCXValidationType`.
typedef GCXValidationType TrustPolicyType;
#endif

#endif
