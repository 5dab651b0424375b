#if Services
public import ServiceLifecycle

extension CertStore: Service {}
extension TrustServerStore: Service {}
extension RevocationStore: Service {}
extension TransparencyLogStore: Service {}
#endif

/// Keeps a store up to date until the task is canceled or its service group shuts down gracefully. Without the second
/// condition, the group would wait.
package func untilShutdown(_ updates: @escaping @Sendable () async throws -> Void) async throws {
    #if Services
    try await cancelWhenGracefulShutdown(updates)
    #else
    try await updates()
    #endif
}
