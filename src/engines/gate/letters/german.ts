import type { Wording } from './wording.ts'

const bothWork = (code: string, link: string) =>
  code === link
    ? `Code und Link funktionieren einmal und gelten ${code} lang.`
    : `Der Code funktioniert einmal und gilt ${code} lang, der Link einmal und ${link} lang.`
const codeWorks = (lifetime: string) => `Der Code funktioniert einmal und gilt ${lifetime} lang.`
const yourAddress = (tenantName: string) =>
  `Du bekommst diese Mail, weil dein Konto bei ${tenantName} diese Adresse hat.`

/** Says "du" to people. */
export const german: Wording = {
  orOpen: 'Oder öffne diese Adresse:',

  verification: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Bestätige deine Adresse für ${tenantName}`,
    heading: 'Bestätige deine E-Mail-Adresse',
    paragraphs: [
      `Gib diesen Code bei ${tenantName} ein oder öffne den Link unten, um zu bestätigen, dass diese Adresse dir gehört.`,
    ],
    button: 'Adresse bestätigen',
    footer: `${bothWork(lifetime, linkLifetime)} Wenn du diese Mail nicht erwartet hast, hat jemand anders deine Adresse angegeben: Ignoriere sie und bestätige nichts.`,
  }),

  recovery: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Zurück in dein Konto bei ${tenantName}`,
    heading: 'Zurück in dein Konto',
    paragraphs: [
      `Jemand, vermutlich du, möchte wieder in dein Konto bei ${tenantName}. Gib diesen Code dort ein oder öffne den Link unten.`,
    ],
    button: 'Zurück ins Konto',
    footer: `${bothWork(lifetime, linkLifetime)} Wenn du das nicht warst, ignoriere diese Mail: Noch hat sich nichts geändert. Gib Code und Link niemals weiter.`,
  }),

  loginCode: ({ tenantName, lifetime }) => ({
    subject: `Dein Code zum Anmelden bei ${tenantName}`,
    heading: 'Dein Code zum Anmelden',
    paragraphs: [
      `Gib diesen Code bei ${tenantName} ein. Gib ihn niemals weiter, wer auch immer danach fragt: Mit ihm kommt man in dein Konto.`,
    ],
    footer: `${codeWorks(lifetime)} Wenn du dich nicht anmelden wolltest, ignoriere diese Mail.`,
  }),

  registrationCode: ({ tenantName, lifetime }) => ({
    subject: `Dein Code zum Registrieren bei ${tenantName}`,
    heading: 'Dein Code zum Registrieren',
    paragraphs: [
      `Gib diesen Code bei ${tenantName} ein, um zu bestätigen, dass diese Adresse dir gehört, und dein Konto anzulegen.`,
    ],
    footer: `${codeWorks(lifetime)} Wenn du kein Konto wolltest, hat jemand anders deine Adresse angegeben: Ignoriere diese Mail, bestätige nichts und gib den Code nicht weiter.`,
  }),

  emailChange: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Bestätige deine neue Adresse für ${tenantName}`,
    heading: 'Bestätige deine neue E-Mail-Adresse',
    paragraphs: [
      `Gib diesen Code bei ${tenantName} ein oder öffne den Link unten, und dein Konto hat von da an diese Adresse. Bis dahin behält es die alte.`,
    ],
    button: 'Neue Adresse bestätigen',
    footer: `${bothWork(lifetime, linkLifetime)} Wenn du diese Mail nicht erwartet hast, hat jemand anders deine Adresse angegeben: Ignoriere sie und bestätige nichts.`,
  }),

  emailChangeNotice: ({ tenantName, shownAddress }) => ({
    subject: `Eine neue Adresse für dein Konto bei ${tenantName}`,
    heading: 'Eine neue Adresse für dein Konto',
    paragraphs: [
      `Dein Konto bei ${tenantName} soll eine andere Adresse bekommen: ${shownAddress}. Sobald sie bestätigt ist, ersetzt sie diese hier.`,
      `Wenn du das nicht warst, ändere sofort dein Passwort und sag ${tenantName} Bescheid.`,
    ],
    footer: yourAddress(tenantName),
  }),

  passwordChanged: ({ tenantName }) => ({
    subject: `Dein Passwort bei ${tenantName} wurde geändert`,
    heading: 'Dein Passwort wurde geändert',
    paragraphs: [
      `Dein Konto bei ${tenantName} hat ein neues Passwort.`,
      `Wenn du das nicht warst, stelle dein Konto sofort mit dieser Adresse wieder her und sag ${tenantName} Bescheid.`,
    ],
    footer: yourAddress(tenantName),
  }),

  secondFactorChanged: ({ tenantName, isOn }) => ({
    subject: `Zwei-Faktor-Anmeldung bei ${tenantName} ${isOn ? 'eingeschaltet' : 'ausgeschaltet'}`,
    heading: `Zwei-Faktor-Anmeldung ${isOn ? 'eingeschaltet' : 'ausgeschaltet'}`,
    paragraphs: [
      isOn
        ? `Die Anmeldung bei ${tenantName} verlangt jetzt auch einen Code aus deiner Authenticator-App.`
        : `Die Anmeldung bei ${tenantName} verlangt keinen Code aus einer Authenticator-App mehr.`,
      `Wenn du das nicht warst, ändere sofort dein Passwort und sag ${tenantName} Bescheid.`,
    ],
    footer: yourAddress(tenantName),
  }),
}
