public import Foundation

/// Pin files in the form that operators write.
public enum PinFileText {
    /// A file that is valid for 90 days and two weeks of grace.
    public static func file(_ hosts: [String], at now: Date) -> Data {
        let end = now.addingTimeInterval(90 * 86_400)
        return Data(
            """
            {
              "schema": 1,
              "issuedAt": "\(now.formatted(.iso8601))",
              "notAfter": "\(end.formatted(.iso8601))",
              "refresh": {"after": 21600, "jitter": 0, "grace": 1209600},
              "hosts": [
            \(hosts.joined(separator: ",\n"))
              ]
            }

            """.utf8)
    }

    /// One of its hosts, with each pin and its state.
    public static func host(_ name: String, _ pins: [(pin: String, state: String)]) -> String {
        let lines = pins.map { #"        {"pin": "\#($0.pin)", "role": "leaf", "state": "\#($0.state)"}"# }
        return """
                {
                  "host": "\(name)",
                  "mode": "enforce",
                  "require": "any",
                  "onExpiry": "failClosed",
                  "pins": [
            \(lines.joined(separator: ",\n"))
                  ]
                }
            """
    }
}
