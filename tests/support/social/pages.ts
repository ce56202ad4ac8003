/** A page with one form and two buttons, for people, browsers and `walk`. */
export function consentPage(of: {
  title: string
  action: string
  who: string
  fields?: Record<string, string>
}): string {
  const hidden = Object.entries(of.fields ?? {}).map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(of.title)}</title></head>
<body>
<h1>${escaped(of.title)}</h1>
<p>Signed in as ${escaped(of.who)}</p>
<form method="post" action="${escaped(of.action)}">
${hidden.join('\n')}
<button name="decision" value="allow">Continue</button>
<button name="decision" value="deny">Cancel</button>
</form>
</body>
</html>`
}

const escaped = (text: string) => Bun.escapeHTML(text)
