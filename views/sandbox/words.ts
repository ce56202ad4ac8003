import type { Language } from '../../src/engines/passepartout/language.ts'
import type { SandboxPage } from '../../src/engines/passepartout/sandbox/pages.ts'

export type Outcome = NonNullable<SandboxPage['outcome']>

export interface Saying {
  heading: string
  text: string
}

/** All that the page says by itself; the chat comes in words of its own. */
export interface Words {
  sandbox: string
  /** Beside the word above, on every page. */
  notReal: string
  /** While there is something to answer. `{tenant}` is where the name goes. */
  task: Saying
  person: Saying
  testBot: string
  /** In front of messages, for those who do not see on which side they are. */
  speakers: Record<'person' | 'bot', string>
  messages: string
  answers: string
  start: Saying
  terminal: Saying
  choices: string
  outcomes: Record<Outcome, Saying>
  /** In front of what the app gets in the end. */
  status: string
}

const en: Words = {
  sandbox: 'Sandbox',
  notReal: 'No messenger is involved, and nobody real is signed in.',
  task: {
    heading: 'Play the person who signs in to {tenant}',
    text: 'A test key has started this login. With a live key, this chat is one in the messenger.',
  },
  person: {
    heading: 'Who you are',
    text: 'Each person keeps their own subject, so your app meets the same user again.',
  },
  testBot: 'test bot',
  speakers: { person: 'You:', bot: 'Bot:' },
  messages: 'Messages',
  answers: 'Answers',
  start: {
    heading: 'Only press Start',
    text: 'Binds the link to this person without answering, to try what happens to a second one.',
  },
  terminal: {
    heading: 'From a terminal',
    text: 'POST the form to this address, the deep_link of the login:',
  },
  choices: 'Possible now',
  outcomes: {
    approved: {
      heading: 'Approved',
      text: 'You can close this page; the app has been told.',
    },
    denied: {
      heading: 'Denied',
      text: 'Nobody is signed in, and the app has been told. You can close this page.',
    },
    expired: {
      heading: 'Expired',
      text: 'Nobody answered in time. Start another login in the app, and follow its link.',
    },
    unknown: {
      heading: 'This link leads nowhere',
      text: 'It is mistyped, or too old. Start another login with a test key, and follow its link.',
    },
  },
  status: 'Status for the app',
}

const de: Words = {
  sandbox: 'Sandbox',
  notReal: 'Kein Messenger ist beteiligt, und niemand wird wirklich angemeldet.',
  task: {
    heading: 'Spiel die Person, die sich bei {tenant} anmeldet',
    text: 'Diese Anmeldung hat ein Testschlüssel begonnen. Mit einem Live-Schlüssel findet der Chat im Messenger statt.',
  },
  person: {
    heading: 'Wer du bist',
    text: 'Jede Person behält ihr eigenes Subject: Deine App erkennt sie beim nächsten Mal wieder.',
  },
  testBot: 'Testbot',
  speakers: { person: 'Du:', bot: 'Bot:' },
  messages: 'Nachrichten',
  answers: 'Antworten',
  start: {
    heading: 'Nur Start drücken',
    text: 'Bindet den Link an diese Person, ohne zu antworten: So siehst du, was einer zweiten geschieht.',
  },
  terminal: {
    heading: 'Im Terminal',
    text: 'Schick das Formular per POST an diese Adresse, den deep_link der Anmeldung:',
  },
  choices: 'Jetzt möglich',
  outcomes: {
    approved: {
      heading: 'Bestätigt',
      text: 'Du kannst diese Seite schließen; die App weiß Bescheid.',
    },
    denied: {
      heading: 'Abgelehnt',
      text: 'Niemand ist angemeldet, und die App weiß Bescheid. Du kannst diese Seite schließen.',
    },
    expired: {
      heading: 'Abgelaufen',
      text: 'Niemand hat rechtzeitig geantwortet. Beginne in der App eine neue Anmeldung und folge ihrem Link.',
    },
    unknown: {
      heading: 'Dieser Link führt nirgendwohin',
      text: 'Er ist falsch abgeschrieben oder zu alt. Beginne mit einem Testschlüssel eine neue Anmeldung und folge ihrem Link.',
    },
  },
  status: 'Status für die App',
}

export const WORDS: Record<Language, Words> = { en, de }
