import type { Wording } from './wording.ts'

const codeAndLinkExpire = (code: string, link: string) =>
  code === link
    ? `The code and the link work once and expire in ${code}.`
    : `The code expires in ${code} and the link in ${link}. Each works once.`
const codeExpires = (lifetime: string) => `The code works once and expires in ${lifetime}.`
const whyYouGotThis = (tenantName: string) =>
  `You received this email because your ${tenantName} account uses this address.`
const IF_UNEXPECTED =
  "If you didn't request this email, someone else entered your address: ignore it, and do not confirm anything."

export const english: Wording = {
  orOpen: 'Or copy this link into your browser:',
  contacts: { support: 'Support', terms: 'Terms', privacy: 'Privacy' },

  verification: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Verify your email address for ${tenantName}`,
    heading: 'Verify your email address',
    paragraphs: [
      `To verify your email address for ${tenantName}, enter this code or use the link below.`,
    ],
    button: 'Verify email address',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} ${IF_UNEXPECTED}`,
  }),

  recovery: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Recover your ${tenantName} account`,
    heading: 'Recover your account',
    paragraphs: [
      `We received a request to recover your ${tenantName} account. To continue, enter this code or use the link below.`,
    ],
    button: 'Recover account',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} If you didn't request this, ignore this email: nothing has changed yet. Never share the code or the link.`,
  }),

  loginCode: ({ tenantName, lifetime }) => ({
    subject: `Your ${tenantName} sign-in code`,
    heading: 'Your sign-in code',
    paragraphs: [
      `Enter this code to sign in to ${tenantName}.`,
      'Never share it with anyone: it gives access to your account.',
    ],
    footer: `${codeExpires(lifetime)} If you didn't try to sign in, ignore this email.`,
  }),

  registrationCode: ({ tenantName, lifetime }) => ({
    subject: `Your ${tenantName} verification code`,
    heading: 'Your verification code',
    paragraphs: [
      `Enter this code to verify your email address and create your ${tenantName} account.`,
    ],
    footer: `${codeExpires(lifetime)} If you didn't try to create an account, someone else entered your address: ignore this email, do not confirm anything, and don't share the code.`,
  }),

  emailChange: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Verify your new email address for ${tenantName}`,
    heading: 'Verify your new email address',
    paragraphs: [
      `To use this email address for your ${tenantName} account, enter this code or use the link below. Until then, your account keeps its current address.`,
    ],
    button: 'Verify new email address',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} ${IF_UNEXPECTED}`,
  }),

  emailChangeNotice: ({ tenantName, shownAddress }) => ({
    subject: `Email change requested for your ${tenantName} account`,
    heading: 'Email change requested',
    paragraphs: [
      `We received a request to change the email address of your ${tenantName} account to ${shownAddress}. The new address replaces this one as soon as it is verified.`,
      `If this wasn't you, change your password immediately and contact ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),

  emailChangedByAdmin: ({ tenantName, shownAddress }) => ({
    subject: `Your ${tenantName} email address was changed`,
    heading: 'Your email address was changed',
    paragraphs: [
      `An administrator changed the email address of your ${tenantName} account to ${shownAddress}. You can no longer use this address to sign in or to recover the account.`,
      `If you didn't ask for this, contact ${tenantName} immediately.`,
    ],
    footer: `You received this email because your ${tenantName} account used this address until now.`,
  }),

  passwordChanged: ({ tenantName }) => ({
    subject: `Your ${tenantName} password was changed`,
    heading: 'Your password was changed',
    paragraphs: [
      `The password of your ${tenantName} account was changed.`,
      `If this wasn't you, recover your account immediately with this email address, and contact ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),

  secondFactorChanged: ({ tenantName, isOn }) => ({
    subject: `Two-factor authentication turned ${isOn ? 'on' : 'off'} for ${tenantName}`,
    heading: `Two-factor authentication turned ${isOn ? 'on' : 'off'}`,
    paragraphs: [
      isOn
        ? `Signing in to ${tenantName} now also requires a code from your authenticator app.`
        : `Signing in to ${tenantName} no longer requires a code from an authenticator app.`,
      `If this wasn't you, change your password immediately and contact ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),
}
