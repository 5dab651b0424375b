/// Section 5.6.7: the pre-order walk through the delegations that are responsible for a target.
struct TargetSearch {
    let update: TUFUpdate
    let name: TargetName

    func found(_ text: String) async throws(TUFError) -> TUFTarget {
        let meter = update.context.meter
        meter.beginSearch()
        var metadata = update.targets
        // A stack: the next role to visit is the last.
        var pending: [Delegator] = []
        var visited: Set<RoleName> = []
        while true {
            if let description = metadata.targets[name.octets] {
                return try TUFTarget(name: text, description: description)
            }
            let roles = try metadata.delegations.roles(for: name, meter: meter)
            if roles.last?.isTerminating == true { pending.removeAll() }
            pending += roles.reversed().map(\.delegator)
            guard let next = try unvisited(&pending, &visited) else {
                throw TUFError(
                    .unknownTarget, of: name.octets.quotedName, section: "5.6.7",
                    expected: "a role that lists the target", found: "none of \(visited.count + 1) roles")
            }
            metadata = try await update.context.targets(
                next, update.snapshot, isConsistent: update.root.consistentSnapshot)
        }
    }

    /// - Throws: ``TUFError`` `tooManyDelegations` (section 5.6.7.1).
    private func unvisited(
        _ pending: inout [Delegator], _ visited: inout Set<RoleName>
    ) throws(TUFError) -> Delegator? {
        while let next = pending.popLast() {
            guard !visited.contains(next.role) else { continue }
            guard visited.count < update.context.settings.delegations else {
                throw TUFError(
                    .tooManyDelegations, of: name.octets.quotedName, section: "5.6.7.1",
                    expected: "at most \(update.context.settings.delegations) delegated roles", found: "more")
            }
            visited.insert(next.role)
            return next
        }
        return nil
    }
}
