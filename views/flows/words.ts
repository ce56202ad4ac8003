import type { NoticePage } from '../../src/engines/gate/sign-in/flows/pages.ts'
import type { FlowKind, Language } from '../../src/engines/gate/sign-in/model.ts'

/** The step of a flow that a page shows. */
export type Topic =
  | 'sign_in'
  | 'sign_in_again'
  | 'second_factor'
  | 'sign_up'
  | 'enter_code'
  | 'recover'
  | 'recover_by_link'
  | 'recovered'
  | 'verify'
  | 'confirm'
  | 'verified'
  | 'settings'

/** Sections of the settings page, by node group. */
export type Section = 'profile' | 'password' | 'oidc' | 'totp' | 'lookup_secret'

interface HeadingAndText {
  heading: string
  text: string
}

/** Page copy that is not part of the flow object. `{tenant}` is replaced by the tenant's name. */
export interface Words {
  headings: Record<Topic, string>
  intros: Partial<Record<Topic, string>>
  /** Prefix of the document title when a page shows an error. */
  problem: string
  or: string
  optional: string
  /** Precedes the button that resends a code. */
  noCode: string
  useRecoveryCode: string
  sections: Record<Section, HeadingAndText>
  /** Replaces the section's text once an authenticator app or recovery codes are set up. */
  totpInUse: string
  codesInUse: string
  codesShown: string
  connected: string
  /** The consequence of a removal, by button name. */
  removals: Record<string, string>
  remove: string
  otherPages: string
  back: string
  showPassword: string
  enterCode: string
  beginAgain: string
  links: Record<FlowKind, string>
  /** Links of the tenant. */
  legal: { label: string; support: string; terms: string; privacy: string }
  notices: Record<NoticePage['notice'], HeadingAndText>
}

const en: Words = {
  headings: {
    sign_in: 'Sign in to {tenant}',
    sign_in_again: 'Sign in to {tenant} again',
    second_factor: 'Two-factor authentication for {tenant}',
    sign_up: 'Create your {tenant} account',
    enter_code: 'Enter the code from {tenant}',
    recover: 'Recover your {tenant} account',
    recover_by_link: 'Recover your {tenant} account',
    recovered: 'Welcome back to {tenant}',
    verify: 'Verify your email address for {tenant}',
    confirm: 'Verify your email address for {tenant}',
    verified: 'Email address verified for {tenant}',
    settings: 'Your {tenant} account',
  },
  intros: {
    recover: "Enter the email address of your account. We'll send you a code.",
    verify: "Enter your email address. We'll send you a code.",
    verified: 'You can close this page.',
    settings: 'Manage your profile and how you sign in.',
  },
  problem: 'Error',
  or: 'or',
  optional: 'optional',
  noCode: "Didn't get the email? It can take a minute. Check your spam folder.",
  useRecoveryCode: 'Use a recovery code instead',
  sections: {
    profile: { heading: 'Profile', text: 'You sign in with this email address.' },
    password: {
      heading: 'Password',
      text: 'Changing your password signs you out on all other devices.',
    },
    oidc: { heading: 'Connected accounts', text: 'Sign in with an account from another service.' },
    totp: {
      heading: 'Authenticator app',
      text: "Scan the QR code with your authenticator app, then enter the code that the app shows. From then on, you'll need a code from the app to sign in.",
    },
    lookup_secret: {
      heading: 'Recovery codes',
      text: 'Use a recovery code to sign in if you lose access to your authenticator app.',
    },
  },
  totpInUse: 'You need a code from your app to sign in.',
  codesInUse: 'You have recovery codes. Generating new ones replaces them.',
  codesShown: 'Click to select all codes. If you print this page, only the codes are printed.',
  connected: 'Connected',
  removals: {
    totp_unlink: "You'll no longer need a code to sign in.",
    lookup_secret_disable: 'The codes you saved will stop working.',
  },
  remove: 'Remove',
  otherPages: 'Other pages',
  back: 'Back to the app',
  showPassword: 'Show password',
  enterCode: 'Enter the code',
  beginAgain: 'Start over',
  links: {
    login: 'Sign in instead',
    registration: 'Create an account',
    recovery: 'Forgot your password?',
    verification: 'Verify your email address',
    settings: 'Your account',
  },
  legal: { label: 'About this service', support: 'Support', terms: 'Terms', privacy: 'Privacy' },
  notices: {
    signed_in: {
      heading: "You're signed in",
      text: 'You can close this page and return to the app.',
    },
    signed_up: {
      heading: 'Your account is ready',
      text: "You're signed in. You can close this page and return to the app.",
    },
    flow_unknown: {
      heading: 'Page not found',
      text: 'The link is incomplete or no longer valid. Return to the app and start again.',
    },
    flow_expired: {
      heading: 'This page has expired',
      text: 'To protect your account, this page works for a limited time only. Nothing was changed.',
    },
    other_browser: {
      heading: 'You started in another browser',
      text: 'Continue in the browser where you started, or start over in this one.',
    },
    forbidden: {
      heading: 'Request not allowed',
      text: 'Nothing was changed. Return to the app and start again.',
    },
    too_many_tries: { heading: 'Too many attempts', text: 'Wait a few minutes, then try again.' },
    failed: {
      heading: 'Something went wrong',
      text: 'Nothing was changed. Try again in a moment.',
    },
    not_now: {
      heading: 'Temporarily unavailable',
      text: 'Nothing was changed. The operator of this service has to restore access.',
    },
  },
}

const de: Words = {
  headings: {
    sign_in: 'Bei {tenant} anmelden',
    sign_in_again: 'Erneut bei {tenant} anmelden',
    second_factor: 'Zwei-Faktor-Authentifizierung für {tenant}',
    sign_up: 'Konto bei {tenant} erstellen',
    enter_code: 'Code von {tenant} eingeben',
    recover: 'Konto bei {tenant} wiederherstellen',
    recover_by_link: 'Konto bei {tenant} wiederherstellen',
    recovered: 'Willkommen zurück bei {tenant}',
    verify: 'E-Mail-Adresse für {tenant} bestätigen',
    confirm: 'E-Mail-Adresse für {tenant} bestätigen',
    verified: 'E-Mail-Adresse für {tenant} bestätigt',
    settings: 'Dein Konto bei {tenant}',
  },
  intros: {
    recover: 'Gib die E-Mail-Adresse deines Kontos ein. Wir senden dir einen Code.',
    verify: 'Gib deine E-Mail-Adresse ein. Wir senden dir einen Code.',
    verified: 'Du kannst diese Seite schließen.',
    settings: 'Verwalte dein Profil und deine Anmeldemethoden.',
  },
  problem: 'Fehler',
  or: 'oder',
  optional: 'optional',
  noCode: 'Keine E-Mail erhalten? Das kann eine Minute dauern. Prüfe auch deinen Spam-Ordner.',
  useRecoveryCode: 'Stattdessen Wiederherstellungscode verwenden',
  sections: {
    profile: { heading: 'Profil', text: 'Mit dieser E-Mail-Adresse meldest du dich an.' },
    password: {
      heading: 'Passwort',
      text: 'Wenn du dein Passwort änderst, wirst du auf allen anderen Geräten abgemeldet.',
    },
    oidc: {
      heading: 'Verbundene Konten',
      text: 'Melde dich mit einem Konto bei einem anderen Dienst an.',
    },
    totp: {
      heading: 'Authenticator-App',
      text: 'Scanne den QR-Code mit deiner Authenticator-App und gib dann den Code ein, den die App anzeigt. Ab dann brauchst du zum Anmelden einen Code aus der App.',
    },
    lookup_secret: {
      heading: 'Wiederherstellungscodes',
      text: 'Verwende zum Anmelden einen Wiederherstellungscode, wenn du keinen Zugriff mehr auf deine Authenticator-App hast.',
    },
  },
  totpInUse: 'Zum Anmelden brauchst du einen Code aus deiner App.',
  codesInUse: 'Du hast Wiederherstellungscodes. Neue Codes ersetzen sie.',
  codesShown:
    'Klicke, um alle Codes zu markieren. Wenn du diese Seite druckst, werden nur die Codes gedruckt.',
  connected: 'Verbunden',
  removals: {
    totp_unlink: 'Du brauchst dann zum Anmelden keinen Code mehr.',
    lookup_secret_disable: 'Die Codes, die du gespeichert hast, funktionieren dann nicht mehr.',
  },
  remove: 'Entfernen',
  otherPages: 'Andere Seiten',
  back: 'Zurück zur App',
  showPassword: 'Passwort anzeigen',
  enterCode: 'Code eingeben',
  beginAgain: 'Von vorn beginnen',
  links: {
    login: 'Stattdessen anmelden',
    registration: 'Konto erstellen',
    recovery: 'Passwort vergessen?',
    verification: 'E-Mail-Adresse bestätigen',
    settings: 'Dein Konto',
  },
  legal: {
    label: 'Über diesen Dienst',
    support: 'Support',
    terms: 'Nutzungsbedingungen',
    privacy: 'Datenschutz',
  },
  notices: {
    signed_in: {
      heading: 'Du bist angemeldet',
      text: 'Du kannst diese Seite schließen und zur App zurückkehren.',
    },
    signed_up: {
      heading: 'Dein Konto ist bereit',
      text: 'Du bist angemeldet. Du kannst diese Seite schließen und zur App zurückkehren.',
    },
    flow_unknown: {
      heading: 'Seite nicht gefunden',
      text: 'Der Link ist unvollständig oder nicht mehr gültig. Kehre zur App zurück und beginne von vorn.',
    },
    flow_expired: {
      heading: 'Diese Seite ist abgelaufen',
      text: 'Zum Schutz deines Kontos ist diese Seite nur für begrenzte Zeit gültig. Es wurde nichts geändert.',
    },
    other_browser: {
      heading: 'Du hast in einem anderen Browser begonnen',
      text: 'Fahre in dem Browser fort, in dem du begonnen hast, oder beginne hier von vorn.',
    },
    forbidden: {
      heading: 'Anfrage nicht erlaubt',
      text: 'Es wurde nichts geändert. Kehre zur App zurück und beginne von vorn.',
    },
    too_many_tries: {
      heading: 'Zu viele Versuche',
      text: 'Warte ein paar Minuten und versuche es dann erneut.',
    },
    failed: {
      heading: 'Es ist ein Fehler aufgetreten',
      text: 'Es wurde nichts geändert. Versuche es gleich noch einmal.',
    },
    not_now: {
      heading: 'Vorübergehend nicht verfügbar',
      text: 'Es wurde nichts geändert. Die Betreiber dieses Dienstes müssen den Zugang wiederherstellen.',
    },
  },
}

export const WORDS: Record<Language, Words> = { en, de }
