#pragma once
typedef struct __attribute__((objc_bridge(id))) __SecTrust *SecTrustRef;
