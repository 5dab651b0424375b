import Foundation
public import Holdfast

extension RolloverSituation {
    /// A server that some clients refuse at this moment.
    public struct Refusal: Sendable, Hashable {
        /// The server, as an index.
        public let server: Int
        /// The clients, as indices of ``RolloverSituation/clients``; empty if what it shows is valid for nobody.
        public let clients: [Int]
    }

    /// The servers that clients refuse now, whatever is advised.
    public var refusals: [Refusal] {
        let forecast = RolloverForecast(self, publishes: false)
        return servers.indices.compactMap { index in
            let cost = forecast.costs[0][servers[index].shows]
            guard cost > 0 else { return nil }
            let refusing = forecast.refusing(servers[index].shows, at: 0).map { forecast.holdings[$0].clients }
            return Refusal(server: index, clients: cost == .infinity ? [] : refusing)
        }
    }

    /// Who gets no connection because of a step, although they would get one without it: what the command that does it has
    /// to refuse or to warn of. Nothing is done after it.
    ///
    /// - Parameter step: any step, advised or not.
    /// - Returns: the clients; those who fetch what is published after a withdrawal are those of the published documents.
    ///   Empty for steps that refuse nobody.
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

    /// Who gets no connection if pins are withdrawn now: see ``losses(of:)``.
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
