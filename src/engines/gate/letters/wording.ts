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

/** So is `linkLifetime`, which is that of the link. */
interface TimedWithLink extends Timed {
  linkLifetime: string
}

/** All letters in one language. None of the subjects says anything that is to be kept secret. */
export interface Wording {
  /** Above a link that is spelled out. */
  orOpen: string
  verification(about: TimedWithLink): SaidWithLink
  recovery(about: TimedWithLink): SaidWithLink
  loginCode(about: Timed): Said
  registrationCode(about: Timed): Said
  emailChange(about: TimedWithLink): SaidWithLink
  /** `shownAddress` is the new address, partly hidden. */
  emailChangeNotice(about: { tenantName: string; shownAddress: string }): Said
  passwordChanged(about: { tenantName: string }): Said
  secondFactorChanged(about: { tenantName: string; isOn: boolean }): Said
}
