import type { NoticePage } from '../../src/engines/gate/flows/pages.ts'
import type { FlowKind, Language } from '../../src/engines/gate/model/flows.ts'

/** What a page of a flow is about. */
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

/** Parts of the settings page that have a heading of their own. */
export type Section = 'profile' | 'password' | 'oidc' | 'totp' | 'lookup_secret'

interface Saying {
  heading: string
  text: string
}

/** All that the pages say by themselves. `{tenant}` is where the name goes. */
export interface Words {
  headings: Record<Topic, string>
  intros: Partial<Record<Topic, string>>
  /** Before the title of a page that has something to correct. */
  problem: string
  or: string
  optional: string
  /** In front of a button that sends another code. */
  noCode: string
  useRecoveryCode: string
  sections: Record<Section, Saying>
  /** Instead of the section's text, where the authenticator or the codes are there. */
  totpInUse: string
  codesInUse: string
  codesShown: string
  connected: string
  /** What removing does, by the name of the button. */
  removals: Record<string, string>
  remove: string
  otherPages: string
  back: string
  enterCode: string
  beginAgain: string
  links: Record<FlowKind, string>
  notices: Record<NoticePage['notice'], Saying>
}

const en: Words = {
  headings: {
    sign_in: 'Sign in to {tenant}',
    sign_in_again: 'Sign in to {tenant} again',
    second_factor: 'Confirm your sign-in to {tenant}',
    sign_up: 'Create your {tenant} account',
    enter_code: 'Enter the code from {tenant}',
    recover: 'Get back into {tenant}',
    recover_by_link: 'Get back into {tenant}',
    recovered: 'Welcome back to {tenant}',
    verify: 'Confirm your address for {tenant}',
    confirm: 'Confirm your address for {tenant}',
    verified: 'Address confirmed for {tenant}',
    settings: 'Your {tenant} account',
  },
  intros: {
    recover: 'Enter the address of your account, and a code is sent to it.',
    verify: 'Enter your address, and a code is sent to it.',
    verified: 'You can close this page.',
    settings: 'Who you are here, and how you sign in.',
  },
  problem: 'Problem',
  or: 'or',
  optional: 'optional',
  noCode: 'A mail can take a minute. Not there, nor among the spam?',
  useRecoveryCode: 'Use a recovery code instead',
  sections: {
    profile: { heading: 'Profile', text: 'Your address is what you sign in with.' },
    password: { heading: 'Password', text: 'A new one signs you out on all other devices.' },
    oidc: {
      heading: 'Connected accounts',
      text: 'Sign in with an account that you have elsewhere.',
    },
    totp: {
      heading: 'Authenticator app',
      text: 'Scan the picture with the app, then enter the code that it shows. From then on, signing in asks for one.',
    },
    lookup_secret: {
      heading: 'Recovery codes',
      text: 'They let you in on the day that you do not have your authenticator.',
    },
  },
  totpInUse: 'Signing in asks for the code that your app shows.',
  codesInUse: 'You have recovery codes. New ones replace them.',
  codesShown: 'One click selects them all. On paper, this page shows nothing else.',
  connected: 'Connected',
  removals: {
    totp_unlink: 'Signing in will no longer ask for a code.',
    lookup_secret_disable: 'The codes that you have written down will no longer work.',
  },
  remove: 'Yes, remove',
  otherPages: 'Other pages',
  back: 'Back to the app',
  enterCode: 'Enter the code',
  beginAgain: 'Begin again',
  links: {
    login: 'Sign in instead',
    registration: 'Create an account',
    recovery: 'Forgot your password?',
    verification: 'Confirm your address',
    settings: 'Your account',
  },
  notices: {
    signed_in: {
      heading: 'You are signed in',
      text: 'You can close this page and go back to where you came from.',
    },
    signed_up: {
      heading: 'Your account is ready',
      text: 'You are signed in. You can close this page and go back to where you came from.',
    },
    flow_unknown: {
      heading: 'There is nothing here',
      text: 'The address is incomplete, or what it led to is done. Go back to where you came from and begin again.',
    },
    flow_expired: {
      heading: 'This page has expired',
      text: 'To keep your account safe it works for a limited time only. Nothing was changed.',
    },
    other_browser: {
      heading: 'This began in another browser',
      text: 'Go on in the browser in which you began, or begin again in this one.',
    },
    forbidden: {
      heading: 'This is not allowed',
      text: 'Nothing was changed. Go back to where you came from and begin again.',
    },
    too_many_tries: {
      heading: 'Too many tries',
      text: 'Wait a few minutes, then try again.',
    },
    failed: {
      heading: 'That did not work',
      text: 'Nothing was changed. Try again in a moment.',
    },
    not_now: {
      heading: 'Not possible at the moment',
      text: 'Nothing was changed. Whoever runs this service has to open it again.',
    },
  },
}

const de: Words = {
  headings: {
    sign_in: 'Bei {tenant} anmelden',
    sign_in_again: 'Noch einmal bei {tenant} anmelden',
    second_factor: 'Anmeldung bei {tenant} bestätigen',
    sign_up: 'Konto bei {tenant} anlegen',
    enter_code: 'Code von {tenant} eingeben',
    recover: 'Zurück zu {tenant}',
    recover_by_link: 'Zurück zu {tenant}',
    recovered: 'Willkommen zurück bei {tenant}',
    verify: 'Adresse für {tenant} bestätigen',
    confirm: 'Adresse für {tenant} bestätigen',
    verified: 'Adresse für {tenant} bestätigt',
    settings: 'Dein Konto bei {tenant}',
  },
  intros: {
    recover: 'Gib die Adresse deines Kontos ein, dann bekommst du dorthin einen Code.',
    verify: 'Gib deine Adresse ein, dann bekommst du dorthin einen Code.',
    verified: 'Du kannst diese Seite schließen.',
    settings: 'Wer du hier bist und wie du dich anmeldest.',
  },
  problem: 'Problem',
  or: 'oder',
  optional: 'freiwillig',
  noCode: 'Eine Mail kann eine Minute brauchen. Nicht da, auch nicht im Spam?',
  useRecoveryCode: 'Stattdessen einen Wiederherstellungscode verwenden',
  sections: {
    profile: { heading: 'Profil', text: 'Mit deiner Adresse meldest du dich an.' },
    password: { heading: 'Passwort', text: 'Ein neues meldet dich auf allen anderen Geräten ab.' },
    oidc: {
      heading: 'Verbundene Konten',
      text: 'Melde dich mit einem Konto an, das du anderswo hast.',
    },
    totp: {
      heading: 'Authenticator-App',
      text: 'Scanne das Bild mit der App und gib den Code ein, den sie zeigt. Von da an fragt die Anmeldung danach.',
    },
    lookup_secret: {
      heading: 'Wiederherstellungscodes',
      text: 'Mit ihnen kommst du hinein, wenn du deinen Authenticator nicht hast.',
    },
  },
  totpInUse: 'Die Anmeldung fragt nach dem Code, den deine App zeigt.',
  codesInUse: 'Du hast Wiederherstellungscodes. Neue ersetzen sie.',
  codesShown: 'Ein Klick markiert alle. Auf Papier zeigt diese Seite nur sie.',
  connected: 'Verbunden',
  removals: {
    totp_unlink: 'Die Anmeldung fragt dann nicht mehr nach einem Code.',
    lookup_secret_disable: 'Die Codes, die du dir notiert hast, gelten dann nicht mehr.',
  },
  remove: 'Ja, entfernen',
  otherPages: 'Andere Seiten',
  back: 'Zurück zur App',
  enterCode: 'Code eingeben',
  beginAgain: 'Noch einmal beginnen',
  links: {
    login: 'Stattdessen anmelden',
    registration: 'Konto anlegen',
    recovery: 'Passwort vergessen?',
    verification: 'Adresse bestätigen',
    settings: 'Dein Konto',
  },
  notices: {
    signed_in: {
      heading: 'Du bist angemeldet',
      text: 'Du kannst diese Seite schließen und dorthin zurückkehren, woher du kamst.',
    },
    signed_up: {
      heading: 'Dein Konto ist bereit',
      text: 'Du bist angemeldet. Du kannst diese Seite schließen und dorthin zurückkehren, woher du kamst.',
    },
    flow_unknown: {
      heading: 'Hier ist nichts',
      text: 'Die Adresse ist unvollständig, oder der Vorgang ist abgeschlossen. Geh zurück und beginne noch einmal.',
    },
    flow_expired: {
      heading: 'Diese Seite ist abgelaufen',
      text: 'Zum Schutz deines Kontos gilt sie nur eine Zeit lang. Geändert wurde nichts.',
    },
    other_browser: {
      heading: 'Begonnen in einem anderen Browser',
      text: 'Mach in dem Browser weiter, in dem du begonnen hast, oder beginne hier noch einmal.',
    },
    forbidden: {
      heading: 'Das ist nicht erlaubt',
      text: 'Geändert wurde nichts. Geh zurück und beginne noch einmal.',
    },
    too_many_tries: {
      heading: 'Zu viele Versuche',
      text: 'Warte ein paar Minuten und versuche es dann noch einmal.',
    },
    failed: {
      heading: 'Das hat nicht geklappt',
      text: 'Geändert wurde nichts. Versuche es gleich noch einmal.',
    },
    not_now: {
      heading: 'Zurzeit nicht möglich',
      text: 'Geändert wurde nichts. Wer diesen Dienst betreibt, muss ihn erst wieder öffnen.',
    },
  },
}

export const WORDS: Record<Language, Words> = { en, de }
