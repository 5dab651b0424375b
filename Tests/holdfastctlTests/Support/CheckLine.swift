/// What `check --json` prints of a host, as far as tests of published pins look.
struct CheckLine: Decodable {
    struct Published: Decodable {
        let isLockedOut: Bool
        let text: String
        let entryDaysLeft: Int?
        let documentDaysLeft: Int?
        let expiresSoon: Bool
    }

    struct Failing: Decodable {
        let code: String
    }

    let outcome: String
    let host: String
    let published: Published?
    let failure: Failing?
    let error: Failing?
    let remarks: [String]?
}
