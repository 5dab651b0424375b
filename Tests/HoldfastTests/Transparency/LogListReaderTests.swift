import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Log lists in Google's schema, version 3")
struct LogListReaderTests {
    private let log: TestTransparencyLog
    private let date = Date(timeIntervalSince1970: 1_900_000_000)

    init() throws { log = try TestTransparencyLog(name: "Log \"1\"") }

    private func code(_ text: String) -> DocumentError.Code? {
        do throws(DocumentError) {
            _ = try TransparencyLogList(json: Data(text.utf8))
            return nil
        } catch {
            return error.code
        }
    }

    private func text(_ logs: String, operatorFields: String = "\"name\": \"One\"") -> String {
        """
        {"log_list_timestamp": "2030-01-01T00:00:00Z", "operators": [{\(operatorFields), "logs": [\(logs)]}]}
        """
    }

    private var identity: String {
        let key = Data(log.key.subjectPublicKeyInfoDER).base64EncodedString()
        return "\"log_id\": \"\(Data(log.identifier).base64EncodedString())\", \"key\": \"\(key)\""
    }

    @Test("Every field that counts is read, of plain logs and of tiled ones")
    func reads() throws {
        let tiled = try TestTransparencyLog(name: "Tiles")
        var list = try TestLogList(issuedAt: date)
        var first = TestLogList.Entry(log, state: "retired", since: date.addingTimeInterval(5))
        first.interval = (date, date.addingTimeInterval(10))
        first.formerOperators = [("C", date.addingTimeInterval(3)), ("B", date)]
        var second = TestLogList.Entry(tiled, state: "readonly")
        second.isTiled = true
        list.operators = ["A": [first], "D": [second]]
        let read = try TransparencyLogList(json: list.json)
        #expect(read.issuedAt == date && read.logs.count == 2)
        let plain = try #require(read.log(withIdentifier: log.identifier[...]))
        #expect(plain.name == "Log \"1\"" && plain.operatorName == "A" && !plain.isTiled)
        #expect(plain.key.der.elementsEqual(log.key.subjectPublicKeyInfoDER) && plain.identifier == log.identifier)
        #expect(plain.state == .retired(since: date.addingTimeInterval(5)))
        #expect(plain.temporalInterval == .init(start: date, end: date.addingTimeInterval(10)))
        #expect(plain.formerOperators.map(\.name) == ["B", "C"])
        #expect((-1...3).map { plain.operatorName(at: date.wholeSeconds + $0) } == ["B", "C", "C", "C", "A"])
        let other = try #require(read.log(withIdentifier: tiled.identifier[...]))
        #expect(other.isTiled && other.state == .readOnly && other.temporalInterval == nil)
        #expect(read == (try TransparencyLogList(json: list.json)))
        list.issuedAt = date.addingTimeInterval(1)
        #expect(read != (try TransparencyLogList(json: list.json)))
    }

    @Test("Fields and states that nobody knows are passed over; a fraction of a second is dropped")
    func newer() throws {
        let text = text("{\(identity), \"state\": {\"frozen\": {\"timestamp\": 5}}, \"future\": [{\"a\": null}]}")
            .replacingOccurrences(of: "00:00Z", with: "00:00.999Z")
        let list = try TransparencyLogList(json: Data(text.utf8))
        #expect(list.logs.map(\.state) == [nil] && list.issuedAt.timeIntervalSince1970 == 1_893_456_000)
    }

    @Test("What is not as the schema says is an error that names the place and what to do")
    func errors() throws {
        #expect(code(text("{\(identity)}")) == nil)
        #expect(code(text("{\(identity)}, {\(identity)}")) == .invalidValue)
        #expect(code(text("{\(identity)}", operatorFields: "\"email\": []")) == .missingField)
        let noHash = identity.replacingOccurrences(of: "\"log_id\": \"", with: "\"log_id\": \"AAAA")
        #expect(code(text("{\(noHash)}")) == .textTooLong)
        let stranger = try TestTransparencyLog()
        let other = identity.replacingOccurrences(
            of: Data(log.identifier).base64EncodedString(), with: Data(stranger.identifier).base64EncodedString())
        #expect(code(text("{\(other)}")) == .invalidValue)
        for (fields, expected) in [
            ("\"state\": {}", .invalidValue), ("\"state\": {\"usable\": {}, \"pending\": {}}", .invalidValue),
            ("\"state\": {\"retired\": {}}", .missingField), ("\"state\": \"usable\"", .wrongType),
            ("\"state\": {\"retired\": {\"timestamp\": \"2030-02-30T00:00:00Z\"}}", .invalidValue),
            ("\"state\": {\"retired\": {\"timestamp\": \"2030-01-01T00:00:00+01:00\"}}", .invalidValue),
            ("\"temporal_interval\": {\"start_inclusive\": \"2030-01-01T00:00:00Z\"}", .missingField),
            ("\"temporal_interval\": {\"end_exclusive\": \"2030-01-01T00:00:00Z\"}", .missingField),
            ("\"previous_operators\": [{\"name\": \"A\"}]", .missingField), ("\"key\": \"AAAA\"", .duplicateKey),
            ("\"previous_operators\": [{\"end_time\": \"2030-01-01T00:00:00Z\"}]", .missingField),
            ("\"description\": \"\(String(repeating: "a", count: 513))\"", .textTooLong),
        ] as [(String, DocumentError.Code)] {
            #expect(code(text("{\(identity), \(fields)}")) == expected, "\(fields)")
        }
        #expect(code("{\"operators\": []}") == .missingField)
        #expect(code("{\"log_list_timestamp\": \"2030-01-01T00:00:00Z\"}") == .missingField)
        #expect(code(text("") + "x") == .notJSON)
        #expect(code(String(repeating: " ", count: 8 << 20) + text("")) == .tooLarge)
        let error = #expect(throws: DocumentError.self) { try TransparencyLogList(json: Data(text("{}").utf8)) }
        #expect(error?.remedy == "Download the list again; if this happens again, ask its publisher.")
        #expect(error?.field == "key")
    }

    @Test("A log whose key nobody can use is read, and its timestamps never verify")
    func unsupportedKey() throws {
        let log = try TestTransparencyLog(key: .ed25519)
        var list = try TestLogList(issuedAt: date)
        list.operators = ["A": [TestLogList.Entry(log)]]
        #expect(try TransparencyLogList(json: list.json).logs.count == 1)
    }

    @Test(
        "The signature beside the list counts before anything is read",
        arguments: [
            .p256, .p384, .ed25519, .sharedRSA(bits: 2_048, index: 1),
        ] as [TestKey.Choice])
    func signed(choice: TestKey.Choice) throws {
        var list = try TestLogList(issuedAt: date, key: choice)
        list.operators = ["A": [TestLogList.Entry(log)]]
        let key = try SubjectPublicKeyInfo(der: list.key.subjectPublicKeyInfoDER)
        let signature = try list.signature()
        #expect(try TransparencyLogList(verifying: list.json, signature: signature, key: key).logs.count == 1)
        func code(_ json: Data, _ signature: Data, _ key: SubjectPublicKeyInfo) -> DocumentError.Code? {
            do throws(DocumentError) {
                _ = try TransparencyLogList(verifying: json, signature: signature, key: key)
                return nil
            } catch {
                return error.code
            }
        }
        // A key that is not supported says nothing about the list.
        let mlDSA65: TestObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 3, 18]
        let algorithm = TestDER.sequence([TestDER.objectIdentifier(mlDSA65)])
        let foreign = TestDER.sequence([algorithm, TestDER.bitString([UInt8](repeating: 4, count: 65))])
        for der in [foreign, try TestKey(.p521).subjectPublicKeyInfoDER] {
            #expect(code(list.json, signature, try SubjectPublicKeyInfo(der: der)) == .unsupportedAlgorithm)
        }
        let stranger = try SubjectPublicKeyInfo(der: TestKey().subjectPublicKeyInfoDER)
        #expect(code(list.json, signature, stranger) == .invalidSignature)
        #expect(code(list.json + Data(" ".utf8), signature, key) == .invalidSignature)
        #expect(code(Data("{".utf8), signature, key) == .invalidSignature)
        #expect(code(list.json, Data(), key) == .invalidSignature)
        #expect(code(Data(count: (8 << 20) + 1), signature, key) == .tooLarge)
    }

    @Test("Of two logs with one key, given as data, the first counts")
    func data() throws {
        let key = log.key.subjectPublicKeyInfoDER
        let logs = try ["A", "B"].map { try TransparencyLog(name: $0, key: key, operatorName: $0, state: .usable) }
        let list = TransparencyLogList(logs, issuedAt: date)
        #expect(list.logs.map(\.name) == ["A"] && list.log(withIdentifier: log.identifier[...])?.name == "A")
        #expect(throws: CertificateError.self) {
            try TransparencyLog(name: "C", key: [1, 2, 3], operatorName: "C", state: .usable)
        }
    }
}
