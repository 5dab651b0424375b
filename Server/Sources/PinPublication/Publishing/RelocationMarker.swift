import Foundation
import ServerFoundation

/// The content of the file `moved` in a folder that a server has left.
package enum RelocationMarker {
    private static let header = "holdfast-moved-v1"

    /// The content that names the new folder.
    package static func bytes(_ folder: ServerFolder) -> [UInt8] { Array("\(header)\n\(folder.url.path)\n".utf8) }

    /// The path of the new folder.
    package static func place(in bytes: [UInt8]) -> String {
        let line = bytes.split(separator: 0x0A).dropFirst().first ?? []
        return ASCIIText.isPrintable(line, 1...4_096, spaces: true)
            ? String(decoding: line, as: UTF8.self) : "another folder"
    }
}
