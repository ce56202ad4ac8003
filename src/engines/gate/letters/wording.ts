/** What a letter says besides its code and link. All of it is text. */
export interface Said {
  subject: string
  heading: string
  paragraphs: readonly string[]
  footer: string
}

/** With a link, what its button says. */
export interface SaidWithLink extends Said {
  button: string
}

/** `lifetime` is in words, such as `15 minutes`. */
interface Timed {
  tenantName: string
  lifetime: string
}

/** All letters in one language. None of the subjects says anything that is to be kept secret. */
export interface Wording {
  /** Above a link that is spelled out. */
  orOpen: string
  verification(about: Timed): SaidWithLink
  recovery(about: Timed): SaidWithLink
  loginCode(about: Timed): Said
  registrationCode(about: Timed): Said
  emailChange(about: Timed): SaidWithLink
  /** `shownAddress` is the new address, partly hidden. */
  emailChangeNotice(about: { tenantName: string; shownAddress: string }): Said
  passwordChanged(about: { tenantName: string }): Said
  secondFactorChanged(about: { tenantName: string; isOn: boolean }): Said
}
