import type { Language } from '../../src/engines/passepartout/language.ts'
import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'

export type Outcome = NonNullable<SandboxPage['outcome']>

export interface HeadingAndText {
  heading: string
  text: string
}

/** Copy of the sandbox page. The messages of the bot come from the engine. */
export interface Words {
  sandbox: string
  /** Follows `sandbox` in the banner of every page. */
  notReal: string
  /** Shown while the login is pending. `{tenant}` is replaced by the tenant's name. */
  task: HeadingAndText
  person: HeadingAndText
  testBot: string
  /** Visually hidden prefix of each message, for screen readers. */
  speakers: Record<'person' | 'bot', string>
  messages: string
  answers: string
  start: HeadingAndText
  terminal: HeadingAndText
  choices: string
  outcomes: Record<Outcome, HeadingAndText>
  /** Label of the status that the app receives. */
  status: string
}

const en: Words = {
  sandbox: 'Sandbox',
  notReal: 'This page simulates the messenger. No real user is signed in.',
  task: {
    heading: 'Sign in to {tenant} as a test user',
    text: 'This login was started with a test key. With a live key, this chat takes place in the messenger.',
  },
  person: {
    heading: 'Test user',
    text: 'Each test user keeps the same subject, so your app recognizes them when they sign in again.',
  },
  testBot: 'Test bot',
  speakers: { person: 'You:', bot: 'Bot:' },
  messages: 'Messages',
  answers: 'Answers',
  start: {
    heading: 'Press Start only',
    text: 'Binds the link to this test user without answering. Use it to test what a second user sees.',
  },
  terminal: {
    heading: 'Command line',
    text: 'POST the form to this URL, the deep_link of the login:',
  },
  choices: 'Available choices',
  outcomes: {
    approved: {
      heading: 'Sign-in approved',
      text: 'Your app can now collect the result. You can close this page.',
    },
    denied: {
      heading: 'Sign-in denied',
      text: 'No user was signed in, and your app can see the result. You can close this page.',
    },
    expired: {
      heading: 'Sign-in expired',
      text: 'It was not answered in time. Start another login in your app and follow its link.',
    },
    unknown: {
      heading: 'Link not found',
      text: 'The link is incorrect or too old. Start another login with a test key and follow its link.',
    },
  },
  status: 'Status returned to your app',
}

const de: Words = {
  sandbox: 'Sandbox',
  notReal: 'Diese Seite simuliert den Messenger. Es wird niemand wirklich angemeldet.',
  task: {
    heading: 'Als Testperson bei {tenant} anmelden',
    text: 'Diese Anmeldung wurde mit einem Testschlüssel gestartet. Mit einem Live-Schlüssel findet dieser Chat im Messenger statt.',
  },
  person: {
    heading: 'Testperson',
    text: 'Jede Testperson behält ihr Subject, sodass deine App sie bei der nächsten Anmeldung wiedererkennt.',
  },
  testBot: 'Testbot',
  speakers: { person: 'Du:', bot: 'Bot:' },
  messages: 'Nachrichten',
  answers: 'Antworten',
  start: {
    heading: 'Nur Start drücken',
    text: 'Bindet den Link an diese Testperson, ohne zu antworten. Damit kannst du testen, was eine zweite Person sieht.',
  },
  terminal: {
    heading: 'Kommandozeile',
    text: 'Sende das Formular per POST an diese URL, den deep_link der Anmeldung:',
  },
  choices: 'Verfügbare Antworten',
  outcomes: {
    approved: {
      heading: 'Anmeldung bestätigt',
      text: 'Deine App kann das Ergebnis jetzt abrufen. Du kannst diese Seite schließen.',
    },
    denied: {
      heading: 'Anmeldung abgelehnt',
      text: 'Es wurde niemand angemeldet, und deine App kann das Ergebnis abrufen. Du kannst diese Seite schließen.',
    },
    expired: {
      heading: 'Anmeldung abgelaufen',
      text: 'Sie wurde nicht rechtzeitig beantwortet. Starte in deiner App eine neue Anmeldung und folge ihrem Link.',
    },
    unknown: {
      heading: 'Link nicht gefunden',
      text: 'Der Link ist falsch oder zu alt. Starte mit einem Testschlüssel eine neue Anmeldung und folge ihrem Link.',
    },
  },
  status: 'Status für deine App',
}

export const WORDS: Record<Language, Words> = { en, de }
