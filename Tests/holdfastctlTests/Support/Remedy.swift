import Foundation

/// The remedies in messages, as a person obeys them who pastes what they say.
enum Remedy {
    private static let programs = ["holdfastctl", "openssl", "awk", "iconv", "tail", "ssh-keygen", "keytool"]

    /// The command of a message: in grave accents, one after the other if there are several, or from the name of a program to the end of the line.
    static func command(in message: String) -> String? {
        for line in message.split(separator: "\n").reversed() {
            let quoted = line.matches(of: /`((?:holdfastctl|openssl) [^`]+)`/).map { String($0.1) }
            if !quoted.isEmpty { return quoted.joined(separator: " && ") }
            // The error itself begins with the program's name as well.
            let starts = programs.compactMap { program in
                [": ", ", "].compactMap { line.firstRange(of: "\($0)\(program) ")?.lowerBound }.min()
            }
            if let start = starts.min() { return String(line[start...].drop { ":, ".contains($0) }) }
        }
        return nil
    }
}
