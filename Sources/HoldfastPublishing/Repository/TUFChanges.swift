import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF

/// Describes the changes of a draft, for the keyholder who is about to sign it.
enum TUFChanges {
    /// - Parameter live: the published root; nil before the first publication.
    static func ofRoot(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> [String] {
        let new = TUFRootContents(draft)
        let old = live.map(TUFRootContents.init)
        var lines = [heading(draft, live)]
        // The name is part of the hash that gives a key's id, so keyholders see both.
        func key(_ id: [UInt8], of root: TUFRootContents?) -> String {
            root?.name(of: id).map { "\($0) (\(text(id)))" } ?? text(id)
        }
        for role in TUFRole.allCases {
            let (before, after) = (old?.roles[role], new.roles[role])
            guard before != after, let after else { continue }
            let removed = (before?.keyIDs ?? []).filter { !after.keyIDs.contains($0) }
            let added = after.keyIDs.filter { !(before?.keyIDs.contains($0) ?? false) }
            for id in removed { lines.append("\(role.rawValue): key \(key(id, of: old)) no longer signs") }
            for id in added { lines.append("\(role.rawValue): key \(key(id, of: new)) signs from now on") }
            guard before?.threshold != after.threshold || !removed.isEmpty || !added.isEmpty else { continue }
            let number = before.map { $0.threshold == after.threshold ? "" : ", before \($0.threshold)" } ?? ""
            lines.append(
                "\(role.rawValue): \(after.threshold) of \(TUFText.count(after.keyIDs.count, "key")) must sign\(number)"
            )
        }
        if live != nil, lines.count == 1 { lines.append("root: the keys stay as they are") }
        let used = Set(new.roles.values.flatMap(\.keyIDs))
        for (id, _) in draft.signed["keys"]?.members ?? [] where !used.contains(id) {
            lines.append("root: also lists the key \(text(id)), which signs nothing")
        }
        return lines + rest(draft, live)
    }

    static func ofTargets(
        _ draft: TUFMetadataFile, _ live: TUFMetadataFile?, pins: Data, livePins: PinFile?
    ) throws(TUFRepositoryError) -> [String] {
        var lines = [heading(draft, live)]
        for (name, _) in draft.signed["targets"]?.members ?? []
        where !name.elementsEqual(TUFContents.target.utf8) {
            lines.append("targets: also lists \(text(name)), which no client of pins asks for")
        }
        lines += rest(draft, live)
        lines += PinFileChanges.words(from: livePins, to: try TUFRepositoryState.pinFile(pins))
        do throws(DocumentError) {
            lines += try PinFile.unknownFields(in: pins).map {
                "pins: \($0.path) is \(String(decoding: $0.value, as: UTF8.self)), which clients of this version ignore"
            }
        } catch {
            throw TUFRepositoryError(.invalidPins, expected: error.expected, found: error.found, remedy: error.remedy)
        }
        return lines
    }

    /// Every value that no other line states: fields that this version does not know, and those in which a draft could
    /// differ from one that this program made.
    ///
    /// Keys and roles are listed if they differ; all other values are always listed.
    private static func rest(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> [String] {
        let (new, old) = (leaves(draft), live.map(leaves) ?? [])
        let before = Dictionary(old.map { ($0.path, $0.text) }) { first, _ in first }
        let role = draft.role.rawValue
        var lines = new.compactMap { leaf -> String? in
            guard let earlier = before[leaf.path] else { return "\(role): \(leaf.path) is \(leaf.text)" }
            guard earlier.hasSameOctets(as: leaf.text) else {
                return "\(role): \(leaf.path) is \(leaf.text), before \(earlier)"
            }
            let isDiffed = draft.role == .root && ["keys.", "roles."].contains { leaf.path.utf8.starts(with: $0.utf8) }
            return isDiffed ? nil : "\(role): \(leaf.path) is \(leaf.text), as before"
        }
        let kept = Set(new.map(\.path))
        lines += old.filter { !kept.contains($0.path) }.map { "\(role): \($0.path) is gone, before \($0.text)" }
        return lines
    }

    private static func leaves(_ file: TUFMetadataFile) -> [JSONTree.Leaf] {
        func isNamed(_ names: [[UInt8]], _ index: Int, _ name: String) -> Bool {
            names[index].elementsEqual(name.utf8)
        }
        return file.signed.leaves { names in
            switch names.count {
            case 1: return ["_type", "version", "expires"].contains { isNamed(names, 0, $0) }
            case 3:
                return file.role == .root && isNamed(names, 0, "roles")
                    && TUFRole.allCases.contains { isNamed(names, 1, $0.rawValue) }
                    && ["keyids", "threshold"].contains { isNamed(names, 2, $0) }
            default: return false
            }
        } digesting: { names in
            // A private key of 32 bytes that is given by mistake looks like a public Ed25519 key.
            names.count == 4 && isNamed(names, 0, "keys") && isNamed(names, 2, "keyval") && isNamed(names, 3, "public")
        }
    }

    private static func heading(_ draft: TUFMetadataFile, _ live: TUFMetadataFile?) -> String {
        let before = live.map { " after version \($0.version)" } ?? ", the first"
        return "\(draft.role.rawValue): version \(draft.version)\(before), until \(draft.end.formatted(.iso8601))"
    }

    private static func text(_ octets: [UInt8]) -> String {
        octets.count == 64 && HexText.octets(of: octets) != nil
            ? String(decoding: octets, as: UTF8.self) : String(decoding: octets.prefix(100), as: UTF8.self).quoted
    }
}

extension TUFRepositoryState {
    /// The changes of the drafts in the published repository, one change per line, for the keyholder who is about to
    /// sign. They include everything that the signatures cover: values without a description are listed as they are.
    /// - Throws: ``TUFRepositoryError`` as ``progress()`` does: a draft that must not be signed is not shown.
    public func changes() throws(TUFRepositoryError) -> [String] {
        try checkDrafts()
        var lines: [String] = []
        if let draftRoot { lines += TUFChanges.ofRoot(draftRoot, live?.root) }
        if let draftTargets, let draftPins {
            lines += try TUFChanges.ofTargets(
                draftTargets, live?.targets, pins: draftPins, livePins: live.flatMap { try? PinFile(json: $0.pins) })
        }
        return lines
    }
}
