import Foundation

/// What is in the file `moved` of a folder that a server has left.
enum RelocationMarker {
    private static let header = "holdfast-moved-v1"

    /// Says where it went.
    static func bytes(_ folder: ServerFolder) -> [UInt8] { Array("\(header)\n\(folder.url.path)\n".utf8) }

    /// Where it went.
    static func place(in bytes: [UInt8]) -> String {
        let line = bytes.split(separator: 0x0A).dropFirst().first ?? []
        return ASCIIText.isPrintable(line, 1...4_096, spaces: true)
            ? String(decoding: line, as: UTF8.self) : "another folder"
    }
}
