const escaped = (text: string) => Bun.escapeHTML(text)

const page = (title: string, action: string, content: string): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title></head>
<body>
<h1>${title}</h1>
<form method="post" action="${escaped(action)}">
${content}
</form>
</body>
</html>`

/** Asks the user of an account whether they agree. */
export const consentPage = (title: string, action: string, { name }: { name: string }): string =>
  page(
    title,
    action,
    `<p>Signed in as ${escaped(name)}</p>
<button name="decision" value="allow">Continue</button>
<button name="decision" value="deny">Cancel</button>`,
  )

/** Posts these fields back, without a script. */
export const backPage = (action: string, fields: Record<string, string>): string =>
  page(
    'Continue',
    action,
    Object.entries(fields)
      .map(([name, value]) => `<input type="hidden" name="${name}" value="${escaped(value)}">`)
      .join(''),
  )
