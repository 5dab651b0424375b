import ServerWeb
import ServiceLifecycle

/// Reads apps while the overview is in use. A page reads only a few, so with many apps a person would have to reload it
/// many times to see all of them up to date.
struct OverviewLoop: Service {
    private let pages: PageResponder

    private static let pause: Duration = .seconds(5)

    /// Creates a loop for some pages.
    init(_ pages: PageResponder) { self.pages = pages }

    /// Runs until the task is canceled or a shutdown is requested.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.pause)
                await pages.lookFurther()
            }
        }
    }
}
