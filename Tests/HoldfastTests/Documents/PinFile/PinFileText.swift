import Foundation
import Testing

@testable import Holdfast

/// Pin files as texts, for what their reader makes of them.
enum PinFileText {
    static func pin(_ number: UInt8) -> Pin {
        // A digest of any 32 bytes is the pin of some key.
        guard let pin = try? Pin(subject: .publicKey, digest: [UInt8](repeating: number, count: 32)) else {
            return .certificate([number])
        }
        return pin
    }

    static func file(_ hosts: String, more: String = "") -> Data {
        Data(#"{"schema":1,\#(more)"hosts":[\#(hosts)]}"#.utf8)
    }

    static func host(_ fields: String, pins: String? = nil) -> Data {
        file(#"{"host":"www.example.com",\#(fields)"pins":[\#(pins ?? pinObject(1))]}"#)
    }

    static func pinObject(_ number: UInt8, _ fields: String = "") -> String { #"{"pin":"\#(pin(number))"\#(fields)}"# }

    /// The example of the format's description, with everything that a file can say.
    static let full = file(
        """
        {"host":"api.example.com","includeSubdomains":false,"ports":[8443,443],"mode":"enforce","require":"any",
         "onExpiry":"failClosed","pins":[
          \(pinObject(1, #","role":"leaf","state":"active""#)),
          \(pinObject(2, #","role":"leaf","state":"backup""#)),
          \(pinObject(3, #","role":"issuer","state":"retiring","notAfter":"2027-01-01T00:00:00Z""#)),
          \(pinObject(4, #","role":"leaf","state":"candidate""#))],
         "report":{"url":"https://reports.example.net/pins","failureFraction":1.0,"successFraction":0.001}},
        {"host":"old.example.com","retired":true}
        """,
        more: #""app":"com.example.bank","issuedAt":"2026-11-21T12:00:00Z","notAfter":"2027-02-21T12:00:00Z","#
            + #""refresh":{"after":21600,"jitter":0.3,"grace":1209600},"critical":[],"debugAnchors":[],"#)

    /// The error of a text that is not read; nil when it is.
    static func refusal(of data: Data) -> PinFileError? {
        do throws(PinFileError) {
            _ = try PinFile(json: data)
            return nil
        } catch {
            return error
        }
    }
}

extension PinFileError {
    /// The code and the field, as the tests name them.
    var place: String { "\(code.rawValue) \(field ?? "-")" }
}
