import Logging
import ServiceLifecycle

/// Reads back what was written to the folder, and has programs upload what waits for places besides it. It has a loop of its
/// own: an address that is silent, or a program that hangs until its deadline, must not hold up what has to be signed again.
struct PlacesLoop: Service {
    private let publisher: Publisher
    private let logger: Logger

    /// How often it looks for what waits.
    private static let step: Duration = .seconds(5)

    /// - Parameters:
    ///   - publisher: what it works with.
    ///   - logger: for what failed, and for what works again.
    init(_ publisher: Publisher, logger: Logger) {
        self.publisher = publisher
        self.logger = logger
    }

    /// Works until the task is canceled or asked to stop.
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
        // Nothing is written with the time of a clock that cannot be believed.
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
