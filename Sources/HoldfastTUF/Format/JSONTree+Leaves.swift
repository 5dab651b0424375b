import Crypto
import Holdfast

extension JSONTree {
    /// A value without nested values, for people who have to read the whole content of a file.
    package struct Leaf: Sendable, Equatable {
        /// The names and indices that lead to the value, such as `targets."pins.json".length`.
        package let path: String
        /// The canonical JSON of the value. For a long value, the beginning and the SHA-256.
        package let text: String
    }

    /// The longest value that is written in full, in bytes. An RSA public key of 4,096 bits in PEM has 800.
    private static let longestText = 1_000

    /// Every value, in the order of canonical JSON. An object or an array without members is a value as well.
    /// - Parameters:
    ///   - isLeftOut: whether a value, with its nested values, is left out.
    ///   - isDigested: whether only the SHA-256 of a value is written.
    package func leaves(
        except isLeftOut: ([[UInt8]]) -> Bool = { _ in false },
        digesting isDigested: ([[UInt8]]) -> Bool = { _ in false }
    ) -> [Leaf] {
        var leaves: [Leaf] = []
        collect(&leaves, [], "", isLeftOut, isDigested)
        return leaves
    }

    private func collect(
        _ leaves: inout [Leaf], _ names: [[UInt8]], _ path: String, _ isLeftOut: ([[UInt8]]) -> Bool,
        _ isDigested: ([[UInt8]]) -> Bool
    ) {
        guard !isLeftOut(names) else { return }
        switch self {
        case .object(let members) where !members.isEmpty:
            for member in members {
                let name = Array(member.key)
                member.value.collect(
                    &leaves, names + [name], path + (path.isEmpty ? "" : ".") + Self.part(name), isLeftOut,
                    isDigested)
            }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                element.collect(
                    &leaves, names + [Array("\(index)".utf8)], "\(path)[\(index)]", isLeftOut, isDigested)
            }
        default: leaves.append(Leaf(path: path, text: isDigested(names) ? "the value with SHA-256 \(digest)" : text))
        }
    }

    private var text: String {
        let octets = canonical
        guard octets.count > Self.longestText else { return String(decoding: octets, as: UTF8.self) }
        return String(decoding: octets.prefix(Self.longestText), as: UTF8.self)
            + "… (\(octets.count) octets, SHA-256 \(digest))"
    }

    private var digest: String { HexText.text(of: SHA256.hash(data: canonical)) }

    private static func part(_ name: [UInt8]) -> String {
        let isPlain =
            !name.isEmpty
            && name.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F }
        return isPlain
            ? String(decoding: name, as: UTF8.self)
            : String(decoding: JSONTree.text(name[...]).canonical, as: UTF8.self)
    }
}
