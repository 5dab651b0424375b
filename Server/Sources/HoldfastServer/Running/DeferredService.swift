import ServiceLifecycle

/// A service that begins once everything that is served was read: whatever looks at that would find nothing before, and the
/// processors are for whoever is asked by clients.
struct DeferredService: Service {
    let service: any Service
    let live: LiveSnapshot

    /// Waits, and runs the service.
    func run() async throws {
        if let starting = live.current.starting {
            await withTaskCancellationOrGracefulShutdownHandler {
                await starting.everything()
            } onCancelOrGracefulShutdown: {
                starting.stop()
            }
        }
        guard !Task.isCancelled, !Task.isShuttingDownGracefully else { return }
        try await service.run()
    }
}
