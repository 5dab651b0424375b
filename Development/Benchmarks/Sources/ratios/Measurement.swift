import Foundation
import Workloads

/// The times of one workload, one sample per round.
struct Series: Sendable {
    /// Nanoseconds per operation.
    struct Sample {
        let onTheWall: Double
        let onTheProcessor: Double
    }

    let name: String
    let clock: Workload.Clock
    /// The samples, in the order of the rounds.
    fileprivate(set) var samples: [Sample] = []

    /// Nanoseconds per operation.
    var median: Double { middle(of: samples.map { $0.time(by: clock) }) }

    /// The time of this workload as a multiple of another one's: the median of each round's ratio, since a disturbance
    /// of the machine affects neighbors alike.
    func ratio(to other: Series) -> Double {
        let clock: Workload.Clock = clock == .processor && other.clock == .processor ? .processor : .wall
        return middle(of: zip(samples, other.samples).map { $0.time(by: clock) / $1.time(by: clock) })
    }
}

extension Series.Sample {
    fileprivate func time(by clock: Workload.Clock) -> Double {
        clock == .processor ? onTheProcessor : onTheWall
    }
}

/// Measures workloads in turn, a short batch each, round after round and with another first one each time, so that
/// other work of the machine slows all of them alike.
enum Measurement {
    private static let batch = Duration.milliseconds(5)
    private static let fewestRounds = 5

    static func run(_ workloads: [Workload], for time: Duration) async throws -> [Series] {
        let clock = ContinuousClock()
        var times: [Int] = []
        for workload in workloads { times.append(try await batchSize(of: workload, clock)) }
        var series = workloads.map { Series(name: $0.name, clock: $0.clock) }
        let end = clock.now.advanced(by: time)
        var round = 0
        while clock.now < end || round < fewestRounds {
            for place in workloads.indices {
                let index = (place + round) % workloads.count
                try await workloads[index].prepare?()
                let (wall, processor) = (clock.now, processorTime())
                try await workloads[index].run(times[index])
                let taken = wall.duration(to: clock.now)
                series[index].samples.append(
                    Series.Sample(
                        onTheWall: taken / .nanoseconds(times[index]),
                        onTheProcessor: (processorTime() - processor) / Double(times[index])))
            }
            round += 1
        }
        return series
    }

    /// The number of operations that fill a batch. The search warms up caches and branch predictors.
    private static func batchSize(of workload: Workload, _ clock: ContinuousClock) async throws -> Int {
        var times = 1
        if let prepare = workload.prepare {
            try await prepare()
            try await workload.run(times)
            return times
        }
        while true {
            let (start, processor) = (clock.now, processorTime())
            try await workload.run(times)
            // Other work of the machine must not be counted: a batch would be too small, and its caches cold.
            let taken: Duration =
                workload.clock == .processor
                ? .nanoseconds(Int64(processorTime() - processor)) : start.duration(to: clock.now)
            if taken >= batch { return times }
            times *= taken < batch / 10 ? 5 : 2
        }
    }

    /// Nanoseconds that all threads of this process have run.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

private func middle(of values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
