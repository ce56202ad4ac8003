import type { Words } from './words-en.ts'

/** German texts by message id. They address the reader as "du". */
export const german: Words = {
  texts: {
    // Signing in.
    1010001: 'Anmelden',
    1010002: 'Weiter mit {provider}',
    1010003: 'Melde dich erneut an, um zu bestätigen, dass du es bist.',
    1010004: 'Bestätige, dass du es bist, um die Anmeldung abzuschließen.',
    1010006: 'Code aus deiner Authenticator-App',
    1010007: 'Wiederherstellungscode',
    1010009: 'Mit Authenticator-App anmelden',
    1010010: 'Mit Wiederherstellungscode anmelden',
    1010014:
      'Wenn es zu dieser E-Mail-Adresse ein Konto gibt, haben wir einen Code an sie gesendet. Gib ihn hier ein.',
    1010015: 'Anmeldecode per E-Mail senden',
    1010016:
      'Für {duplicate_identifier} gibt es bereits ein Konto. Melde dich an, um {provider} damit zu verbinden.',
    1010022: 'Mit Passwort anmelden',
    1010023: 'Code an {address} senden',
    1010025: 'Wir haben einen Code an deine E-Mail-Adresse gesendet. Gib ihn hier ein.',

    // Signing up.
    1040001: 'Konto erstellen',
    1040002: 'Weiter mit {provider}',
    1040005:
      'Wir haben einen Code an diese E-Mail-Adresse gesendet. Gib ihn hier ein, um dein Konto zu erstellen.',
    1040006: 'Mit E-Mail-Code registrieren',

    // Settings.
    1050001: 'Deine Änderungen wurden gespeichert.',
    1050002: '{provider} verbinden',
    1050003: '{provider} trennen',
    1050004: 'Authenticator-App entfernen',
    1050005: 'Scanne diesen QR-Code mit deiner Authenticator-App',
    1050006: '{secret}',
    1050007: 'Wiederherstellungscodes anzeigen',
    1050008: 'Wiederherstellungscodes erzeugen',
    1050009: '{secret}',
    1050010:
      'Speichere diese Wiederherstellungscodes jetzt. Sie werden nicht noch einmal angezeigt. Jeder Code funktioniert einmal.',
    1050011: 'Ich habe meine Codes gespeichert',
    1050014: 'Bereits verwendet',
    1050015: '{secrets}',
    1050016: 'Wiederherstellungscodes entfernen',
    1050017: 'Oder gib diesen Einrichtungsschlüssel in der App ein',

    // Recovery.
    1060001: 'Du bist wieder angemeldet. Lege jetzt ein neues Passwort fest.',
    1060003:
      'Wenn es zu dieser E-Mail-Adresse ein Konto gibt, haben wir eine E-Mail an sie gesendet. Gib den Code aus der E-Mail ein oder öffne den Link in der neuesten E-Mail.',

    // Labels of fields and buttons in several forms.
    1070001: 'Passwort',
    1070002: '{title}',
    1070003: 'Speichern',
    1070004: 'E-Mail-Adresse',
    1070005: 'Absenden',
    1070006: 'Code aus deiner Authenticator-App',
    1070007: 'E-Mail-Adresse',
    1070008: 'Code erneut senden',
    1070009: 'Weiter',
    1070010: 'Bestätigungscode',
    1070011: 'Bestätigungscode',
    1070012: 'Bestätigungscode',
    1070013: 'Bestätigungscode',

    // Verification.
    1080002: 'Deine E-Mail-Adresse ist bestätigt.',
    1080003:
      'Wenn diese E-Mail-Adresse noch bestätigt werden muss, haben wir eine E-Mail an sie gesendet. Gib den Code aus der E-Mail ein oder öffne den Link in der neuesten E-Mail.',

    1900001: 'Melde dich an, um {provider} mit deinem Konto zu verbinden.',
    1900003:
      '{provider} hat uns deine E-Mail-Adresse nicht mitgeteilt. Gib sie ein, um die Registrierung abzuschließen.',
    1900004: 'Dein Name',
    1900002:
      'Wir haben einen Code an {address} gesendet. Deine E-Mail-Adresse ändert sich, sobald du ihn eingibst.',

    1900005: 'Melde dich an, um {address} zu bestätigen.',
    1900006:
      'Melde dich an, um zu bestätigen, dass dieses Konto dir gehört. Wenn du es nicht erstellt oder das Passwort vergessen hast, übernimm stattdessen das Konto. Dabei werden Passwort und andere Zugangsdaten entfernt und alle Sitzungen beendet.',
    1900007: 'Melde dich an, um die neue E-Mail-Adresse deines Kontos zu bestätigen.',
    1900008: 'Anmelden und bestätigen',
    1900009: 'Konto übernehmen',
    1900010:
      'Fahre fort, um das Konto von {address} wiederherzustellen. Dabei werden alle anderen Sitzungen beendet, und du kannst ein neues Passwort festlegen.',
    1900011: 'Fahre fort, um {address} zu bestätigen.',
    1900012: 'Du bist als {address} angemeldet.',
    1900013: 'Dein Konto ist bereit. Du bist als {address} angemeldet.',
    1900014:
      'Dieser Dienst kann gerade keine E-Mails senden. Du kannst dein Konto hier deshalb nicht wiederherstellen. Wende dich an den Support.',
    1900015:
      'Gatehouse kann noch keine E-Mails senden. Du kannst dein Konto hier deshalb nicht wiederherstellen. Bitte einen Administrator um einen Anmeldelink.',
    1900016:
      'Dieser Dienst kann gerade keine E-Mails senden. Du kannst deine E-Mail-Adresse hier deshalb nicht bestätigen. Wende dich an den Support.',

    // Fields.
    4000001: 'Ungültige Eingabe: {reason}',
    4000002: '{property} fehlt.',
    4000003: 'Gib mindestens {min_length} Zeichen ein.',
    4000004: 'Das Format ist ungültig. Prüfe deine Eingabe.',
    4000005: 'Dieses Passwort kann nicht verwendet werden: {reason}',
    4000006: 'E-Mail-Adresse oder Passwort ist falsch. Prüfe beides und versuche es erneut.',
    4000007:
      'Es gibt bereits ein Konto mit dieser E-Mail-Adresse. Melde dich an oder stelle dein Konto wieder her.',
    4000008: 'Falscher Code. Gib den Code ein, den deine Authenticator-App jetzt anzeigt.',
    4000010:
      'Deine E-Mail-Adresse ist noch nicht bestätigt. Gib den Code aus unserer E-Mail ein, um sie zu bestätigen.',
    4000011:
      'Für dieses Konto ist keine Authenticator-App eingerichtet. Wähle eine andere Methode.',
    4000012: 'Dieser Wiederherstellungscode wurde bereits verwendet. Verwende einen anderen.',
    4000014: 'Dieses Konto hat keine Wiederherstellungscodes. Wähle eine andere Methode.',
    4000016: 'Falscher Wiederherstellungscode. Prüfe ihn oder verwende einen anderen.',
    4000017: 'Gib höchstens {max_length} Zeichen ein.',
    4000026: 'Dieser Wert ist nicht lesbar. Gib ihn erneut ein.',
    4000027:
      'Dieses Konto bei {provider} ist mit einer anderen Person verbunden, oder dein Konto ist mit einem anderen Konto bei {provider} verbunden. Trenne zuerst dieses Konto.',
    4000028:
      'Es gibt bereits ein Konto mit dieser E-Mail-Adresse. Melde dich mit der Methode an, die du bisher verwendet hast.',
    4000031: 'Dieses Passwort ist deiner E-Mail-Adresse zu ähnlich. Wähle ein anderes.',
    4000032: 'Dieses Passwort ist zu kurz. Verwende mindestens {min_length} Zeichen.',
    4000033: 'Dieses Passwort ist zu lang. Verwende höchstens {max_length} Zeichen.',
    4000034:
      'Dieses Passwort war Teil eines Datenlecks. Wähle ein anderes und ändere es überall, wo du es sonst verwendest.',
    4000035:
      'Bei diesem Konto kannst du dich nicht mit einem Code anmelden. Wähle eine andere Methode.',
    4000036:
      'Deine Angaben haben sich geändert, nachdem der Code gesendet wurde. Fordere einen neuen Code an.',
    4000037: 'Dieses Konto gibt es nicht. Prüfe die E-Mail-Adresse oder registriere dich.',
    4000039: 'Das ist dein aktuelles Passwort. Wähle ein neues.',
    4000040: 'Gib eine gültige E-Mail-Adresse ein.',

    // Whole flows: expired, already complete, or submitted without a method.
    4010001: 'Diese Anmeldung ist abgelaufen. Beginne von vorn.',
    4010002: 'Wähle aus, wie du dich anmelden möchtest.',
    4010003: 'Wähle aus, wie du dich registrieren möchtest.',
    4010004: 'Wähle aus, was du ändern möchtest.',
    4010005: 'Gib deine E-Mail-Adresse oder den Code ein, den wir an sie gesendet haben.',
    4010006: 'Gib deine E-Mail-Adresse oder den Code ein, den wir an sie gesendet haben.',
    4010007:
      'Diese Anmeldung ist bereits abgeschlossen. Um dich erneut anzumelden, beginne von vorn.',
    4010008: 'Dieser Code ist falsch oder abgelaufen. Prüfe ihn oder fordere einen neuen an.',
    4010011: 'Dieses Konto ist deaktiviert. Wende dich an den Support.',
    4040001: 'Diese Registrierung ist abgelaufen. Beginne von vorn.',
    4040002: 'Dein Konto wurde bereits erstellt. Melde dich an, um es zu nutzen.',
    4040003: 'Dieser Code ist falsch oder abgelaufen. Prüfe ihn oder fordere einen neuen an.',
    4050001: 'Diese Einstellungsseite ist abgelaufen. Öffne sie erneut.',
    4060001:
      'Diese Wiederherstellung ist bereits abgeschlossen. Um erneut ein Konto wiederherzustellen, beginne von vorn.',
    4060005: 'Diese Wiederherstellung ist abgelaufen. Beginne von vorn.',
    4060006: 'Dieser Code ist falsch oder abgelaufen. Prüfe ihn oder fordere einen neuen an.',
    4070002: 'Diese E-Mail-Adresse ist bereits bestätigt. Du musst nichts weiter tun.',
    4070005: 'Diese Bestätigung ist abgelaufen. Beginne von vorn.',
    4070006: 'Dieser Code ist falsch oder abgelaufen. Prüfe ihn oder fordere einen neuen an.',

    4900001: 'Zu viele falsche Codes. Beginne von vorn.',
    4900002: 'Zu viele Versuche. Versuche es in {seconds} erneut.',
    4900003:
      'Die Anmeldung mit {provider} wurde abgelehnt oder abgebrochen. Versuche es erneut oder wähle eine andere Methode.',
    4900004:
      '{provider} hat eine ungültige Antwort gesendet. Versuche es erneut oder wähle eine andere Methode.',
    4900005:
      'Es gibt bereits ein Konto mit dieser E-Mail-Adresse. Melde dich zuerst dort an und verbinde {provider} dann in den Einstellungen.',
    4900006: 'Dieses Passwort wird zu häufig verwendet. Wähle ein anderes.',
    4900007: 'Wiederherstellungscodes können nicht noch einmal angezeigt werden. Erzeuge neue.',
    4900009: 'Dieser Anbieter ist hier nicht verfügbar. Wähle eine andere Methode.',
    4900010: 'Diese E-Mail-Adresse wird bereits verwendet. Verwende eine andere.',
    4900011:
      'Ohne diese Methode könntest du dich nicht mehr anmelden. Lege ein Passwort fest oder verbinde ein anderes Konto, bevor du sie entfernst.',
    4900013:
      'Zu deinem Konto bei {provider} gibt es hier kein Konto. Bitte die Administration um eine Einladung.',
    4900014: 'Melde dich zuerst bei diesem Konto an und gib den Code dann erneut ein.',
    4900016: 'Dieser Dienst kann gerade keine E-Mails senden. Wende dich an den Support.',
    4900012: 'Dieser Link ist unvollständig. Kopiere den ganzen Link aus der E-Mail.',

    5000001: 'Bei uns ist ein Fehler aufgetreten. Versuche es gleich noch einmal.',
  },

  fields: {
    identifier: 'E-Mail-Adresse',
    email: 'E-Mail-Adresse',
    traits: 'E-Mail-Adresse',
    'traits.email': 'E-Mail-Adresse',
    'traits.display_name': 'Name',
    password: 'Passwort',
    code: 'Bestätigungscode',
    totp_code: 'Code aus deiner Authenticator-App',
    lookup_secret: 'Wiederherstellungscode',
    provider: 'Anbieter',
  },
}
