import type { Wording } from './wording.ts'

const bothWork = (code: string, link: string) =>
  code === link
    ? `Code and link work once, for ${code}.`
    : `The code works once, for ${code}, and the link once, for ${link}.`
const codeWorks = (lifetime: string) => `The code works once, for ${lifetime}.`
const yourAddress = (tenantName: string) =>
  `You get this mail because your account at ${tenantName} has this address.`

export const english: Wording = {
  orOpen: 'Or open this address:',

  verification: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Confirm your address for ${tenantName}`,
    heading: 'Confirm your e-mail address',
    paragraphs: [
      `Enter this code at ${tenantName}, or open the link below, to confirm that this address is yours.`,
    ],
    button: 'Confirm the address',
    footer: `${bothWork(lifetime, linkLifetime)} If you did not expect this mail, somebody else gave your address: ignore it, and do not confirm anything.`,
  }),

  recovery: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Get back into your account at ${tenantName}`,
    heading: 'Get back into your account',
    paragraphs: [
      `Somebody, probably you, asked for a way back into your account at ${tenantName}. Enter this code there, or open the link below.`,
    ],
    button: 'Get back in',
    footer: `${bothWork(lifetime, linkLifetime)} If it was not you, ignore this mail: nothing has changed yet. Never pass the code or the link on.`,
  }),

  loginCode: ({ tenantName, lifetime }) => ({
    subject: `Your code to sign in at ${tenantName}`,
    heading: 'Your code to sign in',
    paragraphs: [
      `Enter this code at ${tenantName}. Never pass it on, whoever asks for it: it lets people into your account.`,
    ],
    footer: `${codeWorks(lifetime)} If you did not want to sign in, ignore this mail.`,
  }),

  registrationCode: ({ tenantName, lifetime }) => ({
    subject: `Your code to sign up at ${tenantName}`,
    heading: 'Your code to sign up',
    paragraphs: [
      `Enter this code at ${tenantName} to confirm that this address is yours, and to create your account.`,
    ],
    footer: `${codeWorks(lifetime)} If you did not want an account, somebody else gave your address: ignore this mail, do not confirm anything, and do not pass the code on.`,
  }),

  emailChange: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Confirm your new address for ${tenantName}`,
    heading: 'Confirm your new e-mail address',
    paragraphs: [
      `Enter this code at ${tenantName}, or open the link below, and your account has this address from then on. Until you do, it keeps the old one.`,
    ],
    button: 'Confirm the new address',
    footer: `${bothWork(lifetime, linkLifetime)} If you did not expect this mail, somebody else gave your address: ignore it, and do not confirm anything.`,
  }),

  emailChangeNotice: ({ tenantName, shownAddress }) => ({
    subject: `A new address for your account at ${tenantName}`,
    heading: 'A new address for your account',
    paragraphs: [
      `Your account at ${tenantName} is to have another address: ${shownAddress}. It takes the place of this one as soon as it is confirmed.`,
      `If this was not you, change your password at once, and tell ${tenantName}.`,
    ],
    footer: yourAddress(tenantName),
  }),

  passwordChanged: ({ tenantName }) => ({
    subject: `Your password at ${tenantName} was changed`,
    heading: 'Your password was changed',
    paragraphs: [
      `Your account at ${tenantName} has a new password.`,
      `If this was not you, recover your account at once with this address, and tell ${tenantName}.`,
    ],
    footer: yourAddress(tenantName),
  }),

  secondFactorChanged: ({ tenantName, isOn }) => ({
    subject: `Two-factor sign-in at ${tenantName} was turned ${isOn ? 'on' : 'off'}`,
    heading: `Two-factor sign-in was turned ${isOn ? 'on' : 'off'}`,
    paragraphs: [
      isOn
        ? `Signing in at ${tenantName} now takes a code from your authenticator app as well.`
        : `Signing in at ${tenantName} no longer takes a code from an authenticator app.`,
      `If this was not you, change your password at once, and tell ${tenantName}.`,
    ],
    footer: yourAddress(tenantName),
  }),
}
