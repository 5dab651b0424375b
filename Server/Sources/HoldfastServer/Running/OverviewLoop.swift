import ServiceLifecycle

/// Looks at apps while people look at the overview. A page reads few of them, so with many apps it would take somebody who
/// loads it again and again to know them all.
struct OverviewLoop: Service {
    private let pages: PageResponder

    private static let pause: Duration = .seconds(5)

    /// Looks for some pages.
    init(_ pages: PageResponder) { self.pages = pages }

    /// Looks until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                await pages.lookFurther()
            }
        }
    }
}
