/// The output of `check --json` for a host, as far as tests of published pins read it.
struct CheckLine: Decodable {
    struct Published: Decodable {
        let verdict: String
        let isLockedOut: Bool
        let text: String
        let until: String?
        let daysLeft: Int?
        let cause: String?
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
