/** The plain text of a mail, apart from its code and link. */
export interface Said {
  subject: string
  heading: string
  /** The first one is the introduction, which a tenant can replace. */
  paragraphs: readonly [string, ...string[]]
  footer: string
}

/** A mail with a link, and the label of its button. */
export interface SaidWithLink extends Said {
  button: string
}

/** `lifetime` is the validity of the code in words, such as `15 minutes`. */
interface Timed {
  tenantName: string
  lifetime: string
}

/** `linkLifetime` is the validity of the link in words, such as `30 minutes`. */
interface TimedWithLink extends Timed {
  linkLifetime: string
}

/** All mails in one language. No subject contains a secret. */
export interface Wording {
  /** Precedes the link when it is written out. */
  orOpen: string
  /** Labels of the tenant's links. */
  contacts: { support: string; terms: string; privacy: string }
  verification(about: TimedWithLink): SaidWithLink
  recovery(about: TimedWithLink): SaidWithLink
  loginCode(about: Timed): Said
  registrationCode(about: Timed): Said
  emailChange(about: TimedWithLink): SaidWithLink
  /** `shownAddress` is the new address, partly hidden. */
  emailChangeNotice(about: { tenantName: string; shownAddress: string }): Said
  /** To the previous address; `shownAddress` is the new one, partly hidden. */
  emailChangedByAdmin(about: { tenantName: string; shownAddress: string }): Said
  passwordChanged(about: { tenantName: string }): Said
  secondFactorChanged(about: { tenantName: string; isOn: boolean }): Said
}
