import Foundation
import HoldfastPublishing
import HoldfastTesting

/// A person who asks for advice and follows it.
struct RolloverPerson {
    enum Manner: CaseIterable {
        /// Does each step at once, and waits until the very tick.
        case literal
        /// Does each step late, or asks again because the advice no longer holds.
        case late
        /// Does half of a step, or nothing, and asks again some time later.
        case halfway
    }

    struct Outcome {
        var first: RolloverAdvice?
        /// The steps that were done, waiting among them.
        var steps = 0
        var isFinished = false
        /// Steps that locked out clients which would have been let in without them, and which the advice did not name.
        var harm: [String] = []
        /// Advice with a time that had passed.
        var past: [String] = []
    }

    let scene: RolloverScene
    let manner: Manner
    var random: SplitMix64

    /// Follows the advice until there is nothing to do, or until nothing more can be done.
    mutating func follow(_ world: inout RolloverWorld) -> Outcome {
        var outcome = Outcome()
        while world.tick < RolloverFleet.horizon, outcome.steps < 60 {
            let situation = scene.situation(of: world)
            let advice = RolloverAdvice(on: situation)
            outcome.first = outcome.first ?? advice
            if isPast(advice, at: situation.time) { outcome.past.append("\(advice)") }
            if manner != .literal, Int.random(in: 0..<3, using: &random) == 0 {
                world.wait(until: min(RolloverFleet.horizon, world.tick + Int.random(in: 1...3, using: &random)))
                if manner == .halfway { continue }
                if let end = advice.holdsUntil, scene.tick(end) <= world.tick { continue }
            }
            var after = world
            switch advice.step {
            case .publish(let identities), .renew(let identities, by: _):
                after.publish { mask in identities.reduce(mask) { $0 | 1 << $1 } }
            case .addBackup: after.publish { $0 | 1 << RolloverFleet.spare }
            case .deploy(let identity, var servers, before: _):
                if manner == .halfway, servers.count > 1 { servers.removeLast(servers.count / 2) }
                after.deploy(identity, on: servers)
            case .remove(let identities): after.publish { mask in identities.reduce(mask) { $0 & ~(1 << $1) } }
            case .wait(until: let date?), .nothing(until: let date?):
                if case .nothing = advice.step { outcome.isFinished = world.isFinished } else { outcome.steps += 1 }
                world.wait(until: min(RolloverFleet.horizon, max(world.tick + 1, scene.tick(date))))
                continue
            case .wait(until: nil), .prepareNext, .renewCertificates, .nothing(until: nil):
                if case .nothing = advice.step { outcome.isFinished = world.isFinished }
                world.wait(until: RolloverFleet.horizon)
                continue
            }
            outcome.steps += 1
            let end = advice.holdsUntil.map { scene.tick($0) } ?? RolloverFleet.horizon
            let harm = after.harm(comparedTo: world, until: min(end, RolloverFleet.horizon))
            // If not all clients can be saved, the advice must have named those that lose.
            if harm & ~world.named(in: advice) != 0 { outcome.harm.append("\(advice) at \(world.tick): \(harm)") }
            world = after
        }
        return outcome
    }

    private func isPast(_ advice: RolloverAdvice, at now: Date) -> Bool {
        if let date = advice.holdsUntil, date <= now { return true }
        switch advice.step {
        case .publish, .remove, .addBackup: return false
        case .renew(_, by: let date), .renewCertificates(_, by: let date), .prepareNext(by: let date),
            .wait(until: let date), .deploy(_, servers: _, before: let date), .nothing(until: let date):
            return date.map { $0 <= now } ?? false
        }
    }
}

extension RolloverWorld {
    /// The documents whose clients advice calls lost, as a mask.
    func named(in advice: RolloverAdvice) -> Int {
        var named = 0
        for loss in advice.lost {
            let build = loss.clients - fleet.documents.count
            named |= 1 << (build < 0 ? loss.clients : Self.builds + build)
        }
        return named
    }
}
