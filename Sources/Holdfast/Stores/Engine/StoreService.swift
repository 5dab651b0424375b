#if ServiceLifecycle
public import ServiceLifecycle

extension CertStore: Service {}
extension TrustServerStore: Service {}
extension RevocationStore: Service {}
extension TransparencyLogStore: Service {}
#endif

/// Runs what keeps a store up to date until the task is cancelled, or until the group of services that it belongs to is
/// shut down gracefully: cancellation alone would leave the group waiting.
package func untilShutdown(_ updates: @escaping @Sendable () async throws -> Void) async throws {
    #if ServiceLifecycle
    try await cancelWhenGracefulShutdown(updates)
    #else
    try await updates()
    #endif
}
