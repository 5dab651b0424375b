import Foundation
import Workloads

/// The times of one workload, a sample a round.
struct Series: Sendable {
    /// Nanoseconds an operation.
    struct Sample {
        let onTheWall: Double
        let onTheProcessor: Double
    }

    let name: String
    let clock: Workload.Clock
    /// In the order of the rounds.
    fileprivate(set) var samples: [Sample] = []

    /// Nanoseconds an operation.
    var median: Double { middle(of: samples.map { $0.time(by: clock) }) }

    /// How many times longer this takes than another workload of the same measurement: the median of what each round
    /// says, since what disturbs a machine disturbs neighbors alike.
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

/// Measures workloads in turn, a short batch each, round after round and from another beginning each time, so that a
/// machine that is busy meanwhile slows all of them alike.
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

    /// How many operations fill a batch. Looking for it warms caches and branch predictors up.
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
            // What others did meanwhile on the machine must not pass for work: a batch would be too small, and its caches
            // cold.
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
