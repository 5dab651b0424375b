import Foundation
import Holdfast
import HoldfastTUF

/// Describes in words what a draft changes, for the keyholder who is about to sign it.
enum TUFChanges {
    /// - Parameter live: the published root; nil before the first publication.
    static func ofRoot(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> [String] {
        let new = TUFRootContents(draft)
        let old = live.map(TUFRootContents.init)
        var lines = [heading(draft, live)]
        for role in TUFRole.allCases {
            let (before, after) = (old?.roles[role], new.roles[role])
            guard before != after, let after else { continue }
            let removed = (before?.keyIDs ?? []).filter { !after.keyIDs.contains($0) }
            let added = after.keyIDs.filter { !(before?.keyIDs.contains($0) ?? false) }
            for id in removed { lines.append("\(role.rawValue): key \(text(id)) no longer signs") }
            for id in added { lines.append("\(role.rawValue): key \(text(id)) signs from now on") }
            guard before?.threshold != after.threshold || !removed.isEmpty || !added.isEmpty else { continue }
            let number = before.map { $0.threshold == after.threshold ? "" : ", before \($0.threshold)" } ?? ""
            lines.append(
                "\(role.rawValue): \(after.threshold) of \(TUFText.count(after.keyIDs.count, "key")) must sign\(number)"
            )
        }
        if live != nil, lines.count == 1 { lines.append("root: the keys stay as they are") }
        lines += otherRoles(draft, live)
        return lines + others(draft, live, except: ["_type", "version", "expires", "keys", "roles", "spec_version"])
    }

    /// Roles that no client of pins knows, and fields of the known roles other than keys and threshold.
    private static func otherRoles(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> [String] {
        func rest(_ file: TUFMetadataFile?) -> [[UInt8]: [UInt8]] {
            var rest: [[UInt8]: [UInt8]] = [:]
            for (name, role) in file?.signed["roles"]?.members ?? [] {
                let isKnown = TUFRole.allCases.contains { name.elementsEqual($0.rawValue.utf8) }
                let others = role.members.filter { member in
                    !isKnown || !["keyids", "threshold"].contains { member.key.elementsEqual($0.utf8) }
                }
                if !isKnown || !others.isEmpty {
                    rest[name] = isKnown ? JSONTree(members: others).canonical : role.canonical
                }
            }
            return rest
        }
        return differing(rest(draft), rest(live)).map {
            "root: the role \(text($0)) differs in fields that this command does not know"
        }
    }

    static func ofTargets(
        _ draft: TUFMetadataFile, _ live: TUFMetadataFile?, pins: PinFile, livePins: PinFile?
    ) -> [String] {
        var lines = [heading(draft, live)]
        for name in names(draft) where !name.elementsEqual(TUFContents.target.utf8) {
            lines.append("targets: also lists \(text(name)), which no client of pins asks for")
        }
        lines += others(draft, live, except: ["_type", "version", "expires", "targets", "spec_version"])
        return lines + PinFileChanges.words(from: livePins, to: pins)
    }

    private static func heading(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> String {
        let before = live.map { " after version \($0.version)" } ?? ", the first"
        return "\(draft.role.rawValue): version \(draft.version)\(before), until \(draft.expires.formatted(.iso8601))"
    }

    /// Fields that this version does not know, or that never differ in a repository that it made.
    private static func others(
        _ draft: TUFMetadataFile, _ live: TUFMetadataFile?, except known: Set<String>
    ) -> [String] {
        let names = Set(known.map { Array($0.utf8) })
        func rest(_ file: TUFMetadataFile?) -> [[UInt8]: [UInt8]] {
            var rest: [[UInt8]: [UInt8]] = [:]
            for (key, value) in file?.signed.members ?? [] where !names.contains(key) { rest[key] = value.canonical }
            // The first root always has this field.
            if live == nil { rest[Array("consistent_snapshot".utf8)] = nil }
            return rest
        }
        return differing(rest(draft), rest(live))
            .map { "\(draft.role.rawValue): the field \(text($0)) differs, which this command does not know" }
    }

    /// The names of the values that differ, sorted.
    private static func differing(_ new: [[UInt8]: [UInt8]], _ old: [[UInt8]: [UInt8]]) -> [[UInt8]] {
        Set(new.keys).union(old.keys).filter { new[$0] != old[$0] }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private static func names(_ file: TUFMetadataFile) -> [[UInt8]] { file.signed["targets"]?.members.map(\.key) ?? [] }

    private static func text(_ octets: [UInt8]) -> String {
        octets.count == 64 && HexText.octets(of: octets) != nil
            ? String(decoding: octets, as: UTF8.self) : String(decoding: octets.prefix(100), as: UTF8.self).quoted
    }
}

extension TUFRepositoryState {
    /// What the drafts change in the published repository, one change per line, for the keyholder who is about to sign.
    /// - Throws: ``TUFRepositoryError`` as ``progress()`` does: a draft that nobody should sign is not shown.
    public func changes() throws(TUFRepositoryError) -> [String] {
        try checkDrafts()
        var lines: [String] = []
        if let draftRoot { lines += TUFChanges.ofRoot(draftRoot, live?.root) }
        if let draftTargets, let draftPins {
            lines += TUFChanges.ofTargets(
                draftTargets, live?.targets, pins: try Self.pinFile(draftPins),
                livePins: live.flatMap { try? PinFile(json: $0.pins) })
        }
        return lines
    }
}
