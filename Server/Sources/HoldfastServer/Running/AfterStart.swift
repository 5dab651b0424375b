import ServiceLifecycle

/// A service that begins once everything that is served was read: whatever looks at that would find nothing before, and the
/// processors are for whoever is asked by clients.
struct AfterStart: Service {
    let service: any Service
    let live: LiveSnapshot

    /// Waits, and runs the service.
    func run() async throws {
        await live.current.starting?.everything()
        try await service.run()
    }
}
