import Foundation

/// What is in the file `moved` of a folder that a server has left.
enum MovedMark {
    private static let header = "holdfast-moved-v1"

    /// Says where it went.
    static func octets(_ folder: ServerFolder) -> [UInt8] { Array("\(header)\n\(folder.url.path)\n".utf8) }

    /// Where it went.
    static func place(in octets: [UInt8]) -> String {
        let line = octets.split(separator: 0x0A).dropFirst().first ?? []
        return ASCIIText.isPrintable(line, 1...4_096, spaces: true)
            ? String(decoding: line, as: UTF8.self) : "another folder"
    }
}
