import Logging
import PinPublication
import ServerFoundation
import ServerStore
import ServiceLifecycle

/// Reads back the documents that were written to the folder, and runs programs that upload to other destinations. It is
/// a separate loop, so that a silent address or a hanging program does not delay signatures.
struct PlacesLoop: Service {
    private let publisher: Publisher
    private let logger: Logger

    /// How often it checks for pending deliveries.
    private static let step: Duration = .seconds(5)

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - logger: receives failures and recoveries.
    init(_ publisher: Publisher, logger: Logger) {
        self.publisher = publisher
        self.logger = logger
    }

    /// Runs until the task is canceled or a shutdown is requested.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            var troubles = RepeatedErrorLog(logger)
            while !Task.isCancelled {
                await step(&troubles)
                try? await Task.sleep(for: Self.step)
            }
        }
    }

    private func step(_ troubles: inout RepeatedErrorLog) async {
        // Nothing is written with the time of an untrusted clock.
        guard publisher.catalog.clockProblem == nil else { return }
        var problems: [String]
        do throws(ServerError) {
            var delivery = await publisher.readBack()
            delivery.add(try await publisher.deliverToPlaces())
            problems = delivery.problems
            for words in delivery.confirmed { logger.info("clients find it at \(words)") }
            for words in delivery.forced { logger.warning("readback was forced: \(words)") }
        } catch {
            problems = ["\(error)"]
        }
        guard !problems.isEmpty else { return troubles.end("uploading to places") }
        troubles.note("uploading to places", problems.prefix(4).joined(separator: "; "), at: .now)
    }
}
