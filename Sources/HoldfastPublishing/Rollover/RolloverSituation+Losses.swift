import Foundation
public import Holdfast

extension RolloverSituation {
    /// A server that some clients refuse at this moment.
    public struct Refusal: Sendable, Hashable {
        /// The server, as an index.
        public let server: Int
        /// The clients, as indices of ``RolloverSituation/clients``; empty if the presented identity is valid for no
        /// client.
        public let clients: [Int]
    }

    /// The servers that clients refuse now, no matter what is done.
    public var refusals: [Refusal] {
        let forecast = RolloverForecast(self, publishes: false)
        return servers.indices.compactMap { index in
            let cost = forecast.costs[0][servers[index].shows]
            guard cost > 0 else { return nil }
            let refusing = forecast.refusing(servers[index].shows, at: 0).map { forecast.holdings[$0].clients }
            return Refusal(server: index, clients: cost == .infinity ? [] : refusing)
        }
    }

    /// The clients that cannot connect because of a step, although they could without it. The command for that step has
    /// to refuse it or to warn. No later step is assumed.
    ///
    /// - Parameter step: any step, advised or not.
    /// - Returns: the clients; those that fetch the publication after a withdrawal are those of the published
    ///   documents. Empty for steps that lock out no client.
    public func losses(of step: RolloverAdvice.Step) -> [RolloverAdvice.Loss] {
        switch step {
        case .deploy(let identity, let servers, before: _): return losses(deploying: identity, on: servers)
        case .remove(let identities):
            let places = servers.indices.filter { identities.contains(servers[$0].shows) }
            guard !places.isEmpty else { return [] }
            return published.map { RolloverAdvice.Loss(clients: $0, servers: places, start: time, end: nil) }
        case .publish, .addBackup, .renew, .renewCertificates, .prepareNext, .wait, .nothing: return []
        }
    }

    /// The clients that cannot connect if pins are withdrawn now: see ``losses(of:)``.
    public func losses(withdrawing pins: Set<Pin>) -> [RolloverAdvice.Loss] {
        losses(of: .remove(identities.indices.filter { pins.contains(identities[$0].pin) }))
    }

    private func losses(deploying identity: Int, on places: [Int]) -> [RolloverAdvice.Loss] {
        var situation = self
        situation.identities[identity].isDeployable = true
        let forecast = RolloverForecast(situation, publishes: false)
        var losses: [RolloverAdvice.Loss] = []
        for (place, holding) in forecast.holdings.enumerated() {
            var servers: [Int] = []
            var (start, end): (Date?, Date?) = (nil, nil)
            for server in places {
                for (index, instant) in forecast.instants.enumerated() {
                    guard forecast.refusing(identity, at: index).contains(place),
                        !forecast.refusing(self.servers[server].shows, at: index).contains(place)
                    else { continue }
                    if servers.last != server { servers.append(server) }
                    start = min(start ?? instant, instant)
                    let next = index + 1 < forecast.instants.count ? forecast.instants[index + 1] : .distantFuture
                    end = max(end ?? next, next)
                }
            }
            guard let start, let end else { continue }
            losses.append(
                .init(
                    clients: holding.clients, servers: servers, start: start,
                    end: end == .distantFuture ? nil : end))
        }
        return losses
    }
}
