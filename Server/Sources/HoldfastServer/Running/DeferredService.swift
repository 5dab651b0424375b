import PinPublication
import ServiceLifecycle

/// A service that starts after all served data was read. Before that it would find nothing, and the processors should
/// serve clients first.
struct DeferredService: Service {
    let service: any Service
    let live: LiveSnapshot

    /// Waits, then runs the service.
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
